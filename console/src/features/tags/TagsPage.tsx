import { Button, FileButton, Group, Menu, TextInput } from '@mantine/core'
import {
  addHashtags,
  deleteHashtags,
  exportTags,
  getHashtags,
  type ImportResult,
  importTags,
} from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { curlOf } from '../../lib/curl.ts'
import { useServices } from '../../lib/services.tsx'
import { confirm } from '../../ui/confirm.ts'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { saveFile } from '../../ui/download.ts'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Icon } from '../../ui/icons.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { SettingsPage } from '../../ui/SettingsPage.tsx'
import { SmallTable } from '../../ui/SmallTable.tsx'
import { tell, tellFailure } from '../../ui/tell.ts'
import { useTitle } from '../../ui/useTitle.ts'
import classes from './TagsPage.module.css'

/** What an import did, with the lines that failed. */
const ImportReport = ({ result, close }: { result: ImportResult; close: () => void }) => (
  <output className={classes.report}>
    <Group justify="space-between">
      <strong>
        {result.imported.toLocaleString('en')} lines imported
        {result.failed === 0 ? '' : `, ${result.failed.toLocaleString('en')} not`}
      </strong>
      <Button size="compact-xs" variant="subtle" onClick={close}>
        Close
      </Button>
    </Group>
    {result.errors.length === 0 ? null : (
      <ul>
        {result.errors.map(({ line, message }) => (
          <li key={`${line}${message}`}>
            Line {line}: <DeviceText value={message} />
          </li>
        ))}
      </ul>
    )}
  </output>
)

/** The tags, with what carries them. */
export const TagsPage = () => {
  useTitle('Tags')
  const { api, session } = useServices()
  const [name, setName] = useState('')
  const [failure, setFailure] = useState<unknown>(null)
  const [report, setReport] = useState<ImportResult | null>(null)
  const tags = useQuery({ queryKey: ['tags'], queryFn: ({ signal }) => api.call(getHashtags, { signal }) })
  const canWrite = session.may('fleet:write')

  const create = async () => {
    setFailure(null)
    try {
      const { created } = await api.call(addHashtags, { body: { hashtags: [name.trim()] } })
      tell(created.length === 0 ? 'This tag was there already.' : 'Tag made.')
      setName('')
      await tags.refetch()
    } catch (reason) {
      setFailure(reason)
    }
  }
  const remove = (tag: string, carriers: number) =>
    confirm({
      title: 'Delete a tag',
      names: [tag],
      kind: ['tag', 'tags'],
      consequence:
        carriers === 0
          ? 'nothing carries it.'
          : `it goes from the ${carriers.toLocaleString('en')} things that carry it.`,
      action: 'Delete',
      run: async () => {
        await api.call(deleteHashtags, { body: { hashtags: [tag] } })
        tell('Tag deleted.')
        await tags.refetch()
      },
    })

  return (
    <SettingsPage
      title="Tags"
      intro="Tags group hosts and devices: for filters now, and for rules that apply to a part of the fleet."
      actions={
        <MoreMenu label="More" curl={() => curlOf(window.location.origin, getHashtags)}>
          <Menu.Item
            leftSection={<Icon name="download" />}
            onClick={() => void api.download(exportTags).then(saveFile, tellFailure)}
          >
            Export as CSV
          </Menu.Item>
          {canWrite ? (
            <FileButton
              accept=".csv,text/csv"
              onChange={(file) => {
                if (file === null) return
                void api.call(importTags, { file }).then((result) => {
                  setReport(result)
                  void tags.refetch()
                }, tellFailure)
              }}
            >
              {(props) => (
                <Menu.Item {...props} closeMenuOnClick={false} leftSection={<Icon name="upload" />}>
                  Import a CSV…
                </Menu.Item>
              )}
            </FileButton>
          ) : null}
        </MoreMenu>
      }
    >
      {report === null ? null : <ImportReport result={report} close={() => setReport(null)} />}
      {canWrite ? (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            void create()
          }}
        >
          <Group gap="sm" align="flex-end">
            <TextInput
              size="xs"
              label="New tag"
              value={name}
              maxLength={64}
              onChange={(event) => setName(event.currentTarget.value)}
            />
            <Button size="xs" type="submit" disabled={name.trim() === ''}>
              Make the tag
            </Button>
          </Group>
        </form>
      ) : null}
      {failure === null ? null : <ErrorState failure={failure} inline />}
      {tags.error === null ? null : <ErrorState failure={tags.error} retry={() => void tags.refetch()} inline />}
      <SmallTable
        label="Tags"
        head={[
          'Tag',
          { title: 'Hosts', align: 'right' },
          { title: 'Devices', align: 'right' },
          { title: '', align: 'right' },
        ]}
        rows={tags.data?.map((tag) => ({
          key: tag.name,
          cells: [
            <span key="name" className={classes.name}>
              <svg viewBox="0 0 10 10" width={10} height={10} aria-hidden="true">
                <circle cx="5" cy="5" r="5" fill={tag.color} />
              </svg>
              <DeviceText value={tag.name} />
            </span>,
            <Link key="agents" to="/agents" search={{ Hashtags: tag.name } as never}>
              {tag.agentsCount.toLocaleString('en')}
            </Link>,
            <Link key="peripherals" to="/peripherals" search={{ hashtags: tag.name } as never}>
              {tag.peripheralsCount.toLocaleString('en')}
            </Link>,
            canWrite ? (
              <Button
                key="delete"
                size="compact-xs"
                variant="default"
                onClick={() => remove(tag.name, tag.agentsCount + tag.peripheralsCount)}
              >
                Delete…
              </Button>
            ) : null,
          ],
        }))}
        empty="No tag yet. Tags are made here, or by typing one on a host."
      />
    </SettingsPage>
  )
}

import { Button, FileButton, Menu, TextInput } from '@mantine/core'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { saveFile } from '@portcullis/platform/console/ui/download.ts'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { submits } from '@portcullis/platform/console/ui/form/submits.ts'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Note, Row } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SettingsPage } from '@portcullis/platform/console/ui/SettingsPage.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { tell, tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { addHashtags, exportTags, getHashtags, type Tag } from '#features/contract.ts'
import { DeleteTag } from './DeleteTag.tsx'
import { ImportTags } from './ImportTags.tsx'
import { strings } from './strings.ts'

// Maximum number of rendered rows: more would make typing slow.
const drawn = 500

const NewTag = ({ onAdded }: { onAdded: () => void }) => {
  const { api } = useServices()
  const [name, setName] = useState('')
  const [failure, setFailure] = useState<unknown>(null)
  const create = async () => {
    setFailure(null)
    try {
      const { created } = await api.call(addHashtags, { body: { hashtags: [name.trim()] } })
      tell(created.length === 0 ? strings.tagExists : strings.tagAdded)
      setName('')
      onAdded()
    } catch (reason) {
      setFailure(reason)
    }
  }
  return (
    <form onSubmit={submits(create)}>
      <Row align="end" wrap>
        <TextInput
          size="xs"
          label={strings.newTag}
          value={name}
          maxLength={64}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Button size="xs" type="submit" disabled={name.trim() === ''}>
          {strings.addTag}
        </Button>
      </Row>
      <ErrorState failure={failure} inline />
    </form>
  )
}

interface TagsTableProps {
  tags: readonly Tag[] | undefined
  empty: string
  /** Absent for accounts that cannot delete tags. */
  remove?: (tag: Tag) => void
}

/** Address of the hosts with a tag. */
const hostsOf = (tag: Tag): string => `/agents?Hashtags=${encodeURIComponent(tag.name)}`

const TagsTable = ({ tags, empty, remove }: TagsTableProps) => (
  <SmallTable
    label={strings.tags}
    head={[strings.tag, right(strings.hosts), right(strings.devices), right('')]}
    rows={tags?.slice(0, drawn).map((tag) => ({
      key: tag.name,
      href: hostsOf(tag),
      cells: [
        <Row key="name" as="span">
          <svg viewBox="0 0 10 10" width={10} height={10} aria-hidden="true">
            <circle cx="5" cy="5" r="5" fill={tag.color} />
          </svg>
          <PlainLink href={hostsOf(tag)}>
            <DeviceText value={tag.name} />
          </PlainLink>
        </Row>,
        <Link key="agents" to="/agents" search={{ Hashtags: tag.name }}>
          {tag.agentsCount.toLocaleString('en')}
        </Link>,
        <Link key="peripherals" to="/peripherals" search={{ hashtags: tag.name }}>
          {tag.peripheralsCount.toLocaleString('en')}
        </Link>,
        remove === undefined ? null : (
          <Button key="delete" size="compact-xs" variant="default" onClick={() => remove(tag)}>
            {strings.askDelete}
          </Button>
        ),
      ],
    }))}
    empty={empty}
  />
)

/** Lists the tags with their hosts and devices. */
export const TagsPage = () => {
  useTitle(strings.tags)
  const { api, session } = useServices()
  const navigate = useNavigate()
  const { q = '' } = useSearch({ from: '/inside/settings/tags' })
  const [deleting, setDeleting] = useState<Tag | null>(null)
  const [file, setFile] = useState<File | null>(null)
  const tags = useRead(['tags'], getHashtags)
  const canWrite = session.may('fleet:write')
  const found = tags.data?.filter(({ name }) => name.toLowerCase().includes(q.trim().toLowerCase()))
  const total = tags.data?.length ?? 0

  return (
    <SettingsPage
      title={strings.tags}
      intro={strings.intro}
      actions={
        <MoreMenu curl={() => curlOf(getHashtags)}>
          <Menu.Item
            leftSection={<Icon name="download" />}
            onClick={() => void api.download(exportTags).then(saveFile, tellFailure)}
          >
            {strings.exportAsCsv}
          </Menu.Item>
          {canWrite ? (
            <FileButton accept=".csv,text/csv" onChange={setFile}>
              {(props) => (
                <Menu.Item {...props} closeMenuOnClick={false} leftSection={<Icon name="upload" />}>
                  {strings.askImport}
                </Menu.Item>
              )}
            </FileButton>
          ) : null}
        </MoreMenu>
      }
    >
      <Row align="end" gap={12}>
        {canWrite ? <NewTag onAdded={() => void tags.refetch()} /> : null}
        {total === 0 ? null : (
          <TextInput
            size="xs"
            type="search"
            label={strings.find}
            w={240}
            ml="auto"
            value={q}
            onChange={(event) => {
              const text = event.currentTarget.value
              void navigate({ to: '.', search: text === '' ? {} : { q: text }, replace: true })
            }}
          />
        )}
      </Row>
      <ErrorState query={tags} inline />
      <TagsTable
        tags={found}
        empty={total === 0 ? strings.empty : strings.noMatch}
        {...(canWrite ? { remove: setDeleting } : {})}
      />
      {found === undefined || found.length === 0 ? null : (
        <Note>
          {found.length === total
            ? strings.tagCount({ count: total })
            : strings.filteredCount({ found: found.length, total })}
          {found.length > drawn ? `; ${strings.firstShown({ count: drawn })}` : ''}
        </Note>
      )}
      <DeleteTag tag={deleting} close={() => setDeleting(null)} />
      <ImportTags file={file} close={() => setFile(null)} />
    </SettingsPage>
  )
}

import { Button } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { CopyField } from '@portcullis/platform/console/ui/CopyField.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Panel, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { assetStream } from '#features/contract.ts'
import { aboutOf, newestFirst, typeLabels } from './messages.ts'
import { strings } from './strings.ts'

const shown = 20
const addressOf = (id: string): string => `/settings/assets?message=${encodeURIComponent(id)}`

/** The newest messages, as consumers receive them. */
export const MessagesTable = ({ newest }: { newest: number }) => {
  const { api } = useServices()
  const navigate = useNavigate({ from: '/settings/assets' })
  const { message: open } = useSearch({ from: '/inside/settings/assets' })
  const messages = useQuery({
    queryKey: ['assets', 'messages', newest],
    queryFn: async ({ signal }) => {
      const { blob } = await api.download(assetStream, {
        query: { after: Math.max(0, newest - shown), follow: false },
        signal,
      })
      return newestFirst(await blob.text())
    },
    placeholderData: (before) => before,
  })
  const show = (id: string | undefined) =>
    void navigate({
      to: '.',
      search: (old) => ({ ...old, message: id }),
      replace: true,
    })
  const one = messages.data?.find(({ id }) => id === open)
  if (messages.error !== null) return <ErrorState query={messages} inline />
  return (
    <>
      <SmallTable
        label={strings.newestMessages}
        head={[right(strings.number), strings.type, strings.object, strings.time, '']}
        rows={messages.data?.map((message) => ({
          key: message.id,
          href: addressOf(message.id),
          cells: [
            <PlainLink key="sequence" href={addressOf(message.id)}>
              {Number(message.sequence).toLocaleString('en')}
            </PlainLink>,
            typeLabels[message.type],
            <DeviceText key="about" value={aboutOf(message)} />,
            <Time key="time" value={message.time} />,
            <Button
              key="open"
              size="compact-xs"
              variant="default"
              aria-expanded={open === message.id}
              onClick={() => show(open === message.id ? undefined : message.id)}
            >
              {open === message.id ? strings.close : strings.viewJson}
            </Button>,
          ],
        }))}
        empty={strings.noMessages}
      />
      {one === undefined ? null : (
        <Panel aria-label={strings.message}>
          <CopyField
            value={JSON.stringify(one)}
            what={strings.message}
            shown={
              <Text breaks style={{ whiteSpace: 'pre-wrap' }}>
                <DeviceText value={JSON.stringify(one, null, 2)} />
              </Text>
            }
          />
        </Panel>
      )}
    </>
  )
}

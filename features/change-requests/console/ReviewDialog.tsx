import { Button, Modal, TextInput } from '@mantine/core'
import { messages } from '@portcullis/platform/console/lib/messages.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { DetailLines } from '@portcullis/platform/console/ui/DetailLines.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { submits } from '@portcullis/platform/console/ui/form/submits.ts'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Note, Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { tell, tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  approveChangeRequest,
  type ChangeRequest,
  downloadChangeRequest,
  readChangeRequest,
} from '#features/contract.ts'
import { downloadByTicket } from '#features/identity/console/shared/download-by-ticket.ts'
import { strings } from './strings.ts'

const pageSize = 200
// Above this number of hosts, the user types it to confirm.
const typedAbove = 1_000

const effects: Readonly<Record<ChangeRequest['action'], string>> = messages({
  free: 'all blocks on these hosts are lifted immediately.',
  delete: 'their keys are revoked within a second. To return, a host must be enrolled again.',
  settings: 'the change takes effect immediately for everyone.',
  rules: 'armed hosts apply the rules within a second.',
  account:
    'the change to the account takes effect immediately. A disabled, demoted or deleted account loses its sessions.',
  update: 'these hosts install the new agent.',
  package: 'hosts can be updated to this build.',
  windows: 'any number of Windows hosts of this build can then be armed.',
})

/** Reads the complete change, page by page. */
const useShownChange = ({ id }: ChangeRequest) => {
  const { api } = useServices()
  const pages = useInfiniteQuery({
    queryKey: ['change-request', id],
    queryFn: ({ pageParam, signal }) =>
      api.call(readChangeRequest, { params: { id }, query: { PageNumber: pageParam, PageSize: pageSize }, signal }),
    initialPageParam: 1,
    getNextPageParam: ({ recordsTotal }, _all, last) => (last * pageSize < recordsTotal ? last + 1 : undefined),
    gcTime: 0,
    refetchOnWindowFocus: false,
  })
  const shown = pages.data?.pages ?? []
  return { pages, first: shown[0], lines: shown.flatMap(({ data }) => data) }
}

interface ReviewProps {
  request: ChangeRequest
  /** Called after the approval. */
  approved: () => Promise<unknown>
  close: () => void
}

const Body = ({ request, approved, close }: ReviewProps) => {
  const { api } = useServices()
  const { pages, first, lines } = useShownChange(request)
  const [file, setFile] = useState<'unread' | 'loading' | 'downloaded'>('unread')
  const [typed, setTyped] = useState('')
  const { busy, failure, run } = useChange()
  const isRead = first !== undefined && (file === 'downloaded' || !pages.hasNextPage)
  const mustType = request.hosts > typedAbove
  const download = async () => {
    const { id } = request
    setFile('loading')
    try {
      await downloadByTicket(api, downloadChangeRequest, { params: { id } }, `change-request-${id}.txt`)
      setFile('downloaded')
    } catch (cause) {
      setFile('unread')
      tellFailure(cause)
    }
  }
  const approve = async (digest: string) => {
    await api.call(approveChangeRequest, { params: { id: request.id }, body: { digest } })
    tell(strings.approvedToast({ title: request.title }))
    close()
    await approved()
  }
  return (
    <Stack as="form" onSubmit={submits(() => first !== undefined && run(() => approve(first.digest)))}>
      <p>
        <strong>
          {request.hosts === 0 ? strings.changeCount({ count: 1 }) : strings.hostCount({ count: request.hosts })}
        </strong>
        : {effects[request.action]}
      </p>
      <p>
        <DeviceText value={strings.requestedByUser({ user: request.requestedBy })} />
      </p>
      <ErrorState query={pages} inline />
      {lines.length === 0 ? null : <DetailLines lines={lines} />}
      {first === undefined || first.recordsTotal <= pageSize ? null : (
        <Row wrap>
          <span role="status">{strings.shownLines({ shown: lines.length, total: first.recordsTotal })}</span>
          {pages.hasNextPage ? (
            <Button
              size="compact-sm"
              variant="default"
              loading={pages.isFetchingNextPage}
              onClick={() => void pages.fetchNextPage()}
            >
              {strings.showMore}
            </Button>
          ) : null}
          <Button size="compact-sm" variant="default" onClick={() => void download()} loading={file === 'loading'}>
            {strings.downloadFile}
          </Button>
        </Row>
      )}
      {isRead || first === undefined ? null : (
        <Note max={320} top={2} style={{ whiteSpace: 'normal' }}>
          {strings.readFirst}
        </Note>
      )}
      {mustType ? (
        <TextInput
          label={strings.typeCount({ count: request.hosts })}
          value={typed}
          inputMode="numeric"
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      ) : null}
      <ErrorState failure={failure} inline />
      <DialogActions
        action={strings.approveRequest}
        isDangerous
        busy={busy}
        isReady={isRead && (!mustType || typed === String(request.hosts))}
        close={close}
        startsAt={mustType ? 'form' : 'cancel'}
      />
    </Stack>
  )
}

/** Shows everything that an approval carries out. The approval is for exactly that. */
export const ReviewDialog = ({
  request,
  approved,
  close,
}: Omit<ReviewProps, 'request'> & { request: ChangeRequest | null }) => (
  <Modal
    opened={request !== null}
    onClose={close}
    size="lg"
    title={
      <Text breaks style={{ lineHeight: '1.3' }}>
        {request === null ? '' : <DeviceText value={request.title} />}
      </Text>
    }
  >
    {request === null ? null : <Body request={request} approved={approved} close={close} />}
  </Modal>
)

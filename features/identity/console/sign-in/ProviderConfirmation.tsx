import { Alert, Button } from '@mantine/core'
import { type IdentityNews, identityChannel } from '@portcullis/platform/console/lib/identity.ts'
import { problemText } from '@portcullis/platform/console/lib/problem.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { useEffect, useRef, useState } from 'react'
import { startOidcReauthentication } from '#features/contract.ts'
import { refusalText } from './refusal.ts'
import { strings } from './strings.ts'

/**
 * Opens the identity provider in a new tab, which asks for the password. This page keeps its input and continues when
 * that tab reports that the identity is confirmed.
 */
export const ProviderConfirmation = ({ settle }: { settle: (confirmed: boolean) => void }) => {
  const { api } = useServices()
  const [url, setUrl] = useState<string | null>(null)
  const [refusal, setRefusal] = useState<string | null>(null)
  const [attempt, setAttempt] = useState(0)
  const link = useRef<HTMLAnchorElement>(null)
  useEffect(() => {
    if (url !== null) link.current?.focus()
  }, [url])
  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt needs its own address
  useEffect(() => {
    let isShown = true
    // Requested before the click: browsers block tabs that open later as popups.
    api.call(startOidcReauthentication).then(
      (answer) => isShown && setUrl(answer.url),
      (failure: unknown) => isShown && setRefusal(refusalText(failure)),
    )
    const channel = new BroadcastChannel(identityChannel)
    channel.onmessage = ({ data }: MessageEvent<IdentityNews>) => {
      if (data.problem === null) return settle(true)
      setRefusal(problemText(data.problem))
      setUrl(null)
      setAttempt((before) => before + 1)
    }
    return () => {
      isShown = false
      channel.close()
    }
  }, [api, attempt, settle])
  return (
    <Stack gap={16}>
      <Text as="p" style={{ margin: '0 0 16px' }}>
        {strings.confirmAtProvider}
      </Text>
      {refusal === null ? null : (
        <Alert color="red" role="alert">
          {refusal}
        </Alert>
      )}
      <DialogActions close={() => settle(false)} action={null} startsAt="action">
        {url === null ? (
          <Button loading={refusal === null} disabled>
            {strings.openIdentityProvider}
          </Button>
        ) : (
          <Button component="a" href={url} target="_blank" rel="noopener" ref={link} data-autofocus>
            {strings.openIdentityProvider}
          </Button>
        )}
      </DialogActions>
    </Stack>
  )
}

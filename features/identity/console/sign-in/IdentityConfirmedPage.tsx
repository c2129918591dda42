import { type IdentityNews, identityChannel } from '@portcullis/platform/console/lib/identity.ts'
import { problemText } from '@portcullis/platform/console/lib/problem.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { useEffect } from 'react'
import { Card } from './Card.tsx'
import { strings } from './strings.ts'

/** The page to which the identity provider returns its tab. It notifies the waiting page and closes. */
export const IdentityConfirmedPage = () => {
  const problem = new URLSearchParams(window.location.search).get('problem')
  useTitle(problem === null ? strings.identityConfirmed : strings.identityNotConfirmed)
  useEffect(() => {
    const channel = new BroadcastChannel(identityChannel)
    channel.postMessage({ problem } satisfies IdentityNews)
    channel.close()
    // Browsers close only tabs that a page opened. Other tabs show the text below.
    if (problem === null) window.close()
  }, [problem])
  return (
    <Card title={problem === null ? strings.identityConfirmed : strings.identityNotConfirmed}>
      <p>{problem === null ? strings.identityConfirmedText : problemText(problem)}</p>
    </Card>
  )
}

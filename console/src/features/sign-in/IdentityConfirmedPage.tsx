import { useEffect } from 'react'
import { type IdentityNews, identityChannel } from '../../lib/identity.ts'
import { problemText } from '../../lib/problem.ts'
import { useTitle } from '../../ui/useTitle.ts'
import { Card } from './Card.tsx'

/** The page to which the identity provider returns its tab. It notifies the waiting page and closes. */
export const IdentityConfirmedPage = () => {
  const problem = new URLSearchParams(window.location.search).get('problem')
  useTitle(problem === null ? 'Identity confirmed' : 'Identity not confirmed')
  useEffect(() => {
    const channel = new BroadcastChannel(identityChannel)
    channel.postMessage({ problem } satisfies IdentityNews)
    channel.close()
    // Browsers close only tabs that a page opened. Other tabs show the text below.
    if (problem === null) window.close()
  }, [problem])
  return (
    <Card title={problem === null ? 'Identity confirmed' : 'Identity not confirmed'}>
      <p>{problem === null ? 'Close this tab and return to Portcullis.' : problemText(problem)}</p>
    </Card>
  )
}

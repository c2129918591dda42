import { Note, Page, PageHead, Panel } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { Steps, useSetUpSteps } from './SetUpCard.tsx'
import { strings } from './strings.ts'

export const SetUpPage = () => {
  useTitle(strings.setUp)
  return (
    <Page scroll gap={16}>
      <PageHead>
        <h1>{strings.setUp}</h1>
      </PageHead>
      <Note>
        {strings.setUpIntro} <a href="/help/guide/first-day">{strings.firstDayGuide}</a>
      </Note>
      <Panel>
        <Steps steps={useSetUpSteps(true)} />
      </Panel>
    </Page>
  )
}

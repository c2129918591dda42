import { FullPage } from '@portcullis/platform/console/ui/FullPage.tsx'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { Link, useParams } from '@tanstack/react-router'
import { strings } from '../strings.ts'
import { ModelDetail } from './ModelDetail.tsx'

/** The full page of a model. */
export const ModelPage = () => {
  const { model } = useParams({ from: '/inside/peripherals/models/$model' })
  useTitle(model)
  return (
    <FullPage title={strings.model({ model })} back={<Link to="/peripherals/models">{strings.modelsTitle}</Link>}>
      <ModelDetail model={model} />
    </FullPage>
  )
}

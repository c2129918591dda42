import { Button } from '@mantine/core'
import type { ConfigGroupName } from '@portcullis/contract'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { SaveBar } from '@portcullis/platform/console/ui/form/SaveBar.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { shownBody } from './draft.ts'
import { saveOperations } from './operations.ts'
import { strings } from './strings.ts'

export interface FormFootProps {
  group: ConfigGroupName
  /** Id of the form that is sent. */
  formId: string
  body: Record<string, string | null>
  busy: boolean
  isDirty: boolean
  /** The changes wait for a second approver. */
  isStored: boolean
  /** Result of the last attempt to save. */
  status: string
  discard: () => void
}

/** The foot of a form, always visible: status, menu, Discard and Save. */
export const FormFoot = ({ group, formId, body, busy, isDirty, isStored, status, discard }: FormFootProps) => {
  const operation = saveOperations[group]
  return (
    <SaveBar status={status}>
      {operation === undefined ? null : (
        <MoreMenu label={strings.moreActions} curl={() => curlOf(operation, { body: shownBody(body) })} />
      )}
      {isDirty ? (
        <Button variant="default" onClick={discard}>
          {strings.discard}
        </Button>
      ) : null}
      {isStored ? null : (
        <Button type="submit" form={formId} loading={busy}>
          {strings.save}
        </Button>
      )}
    </SaveBar>
  )
}

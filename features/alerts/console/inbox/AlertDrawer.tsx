import { SidePanel } from '@portcullis/platform/console/ui/SidePanel.tsx'
import { alertAddress } from '../shared/line.ts'
import { AlertBody, type AlertBodyProps } from './AlertBody.tsx'
import { strings } from './strings.ts'

export const AlertDrawer = ({ close, ...rest }: AlertBodyProps & { close: () => void }) => (
  <SidePanel label={strings.alert} close={close} fullPage={alertAddress(rest.id)}>
    <AlertBody key={rest.id} {...rest} />
  </SidePanel>
)

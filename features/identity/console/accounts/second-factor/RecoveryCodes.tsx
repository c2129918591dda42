import { Button } from '@mantine/core'
import { copyText } from '@portcullis/platform/console/ui/copy.ts'
import { saveFile } from '@portcullis/platform/console/ui/download.ts'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { strings } from '../strings.ts'
import classes from './second-factor.module.css'

/** Shows the recovery codes. The server cannot show them again. */
export const RecoveryCodes = ({ codes, close }: { codes: readonly string[]; close: () => void }) => {
  const text = `${codes.join('\n')}\n`
  return (
    <Stack>
      <p style={{ margin: 0 }}>{strings.recoveryCodesText}</p>
      <ul className={classes.codes} aria-label={strings.recoveryCodes}>
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <Row wrap>
        <Button
          size="xs"
          variant="default"
          // Not the closing button: Enter of the step before may still be pressed.
          autoFocus
          leftSection={<Icon name="copy" size={14} />}
          onClick={() => void copyText(text, strings.recoveryCodes)}
        >
          {strings.copy}
        </Button>
        <Button
          size="xs"
          variant="default"
          leftSection={<Icon name="download" size={14} />}
          onClick={() =>
            saveFile({ blob: new Blob([text], { type: 'text/plain' }), name: 'portcullis-recovery-codes.txt' })
          }
        >
          {strings.download}
        </Button>
      </Row>
      <Row gap={16} justify="end" wrap>
        <Button onClick={close}>{strings.codesSaved}</Button>
      </Row>
    </Stack>
  )
}

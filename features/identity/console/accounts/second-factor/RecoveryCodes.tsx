import { Button } from '@mantine/core'
import { copyText } from '@portcullis/platform/console/ui/copy.ts'
import { saveFile } from '@portcullis/platform/console/ui/download.ts'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Columns, Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { strings } from '../strings.ts'

/** Shows the recovery codes. The server cannot show them again. */
export const RecoveryCodes = ({ codes, close }: { codes: readonly string[]; close: () => void }) => {
  const text = `${codes.join('\n')}\n`
  return (
    <Stack>
      <p style={{ margin: 0 }}>{strings.recoveryCodesText}</p>
      <Columns
        as="ul"
        template="repeat(auto-fill, minmax(220px, 1fr))"
        gap="6px 16px"
        pad="12px 16px"
        style={{ background: 'var(--pc-sunken)' }}
        aria-label={strings.recoveryCodes}
      >
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </Columns>
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

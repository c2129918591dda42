import { Button, Group, Stack } from '@mantine/core'
import { copyText } from '../../../ui/copy.ts'
import { saveFile } from '../../../ui/download.ts'
import { Icon } from '../../../ui/icons.tsx'
import classes from './second-factor.module.css'

/** The codes for the day when the phone or the key is lost. Nobody can show them again. */
export const RecoveryCodes = ({ codes, close }: { codes: readonly string[]; close: () => void }) => {
  const text = `${codes.join('\n')}\n`
  return (
    <Stack gap="md">
      <p style={{ margin: 0 }}>
        Each of these signs you in once, after the password, when your second factor is lost. Keep them where the phone
        or key is not. They are shown only now.
      </p>
      <ul className={classes.codes} aria-label="Recovery codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <Group gap="sm">
        <Button
          size="xs"
          variant="default"
          // Not the button that puts them away: the Enter of the step before may still be down.
          autoFocus
          leftSection={<Icon name="copy" size={14} />}
          onClick={() => void copyText(text, 'Codes')}
        >
          Copy
        </Button>
        <Button
          size="xs"
          variant="default"
          leftSection={<Icon name="download" size={14} />}
          onClick={() =>
            saveFile({ blob: new Blob([text], { type: 'text/plain' }), name: 'portcullis-recovery-codes.txt' })
          }
        >
          Download
        </Button>
      </Group>
      <Group justify="flex-end">
        <Button onClick={close}>I have kept them</Button>
      </Group>
    </Stack>
  )
}

import { Button, FileButton, Textarea } from '@mantine/core'
import { Row, Stack } from '../layout/layout.tsx'
import type { FieldFrame } from './field.ts'
import { strings } from './strings.ts'

export interface CertificatesFieldProps extends FieldFrame {
  max: number
  value: string
  onChange: (text: string) => void
}

const beginCertificate = '-----BEGIN CERTIFICATE-----'
const countOf = (text: string) => text.split(beginCertificate).length - 1

/** PEM certificates, pasted or uploaded. */
export const CertificatesField = ({ max, value, onChange, ...frame }: CertificatesFieldProps) => {
  const count = countOf(value)
  return (
    <Stack gap={6}>
      <Textarea
        {...frame}
        rows={value === '' ? 2 : 5}
        maxLength={max}
        resize="vertical"
        spellCheck={false}
        placeholder={beginCertificate}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 12 } }}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      <Row wrap gap={10} top={4} quiet tiny>
        <FileButton
          accept=".pem,.crt,.cer"
          onChange={(file) => {
            if (file !== null) void file.text().then(onChange)
          }}
        >
          {(props) => (
            <Button {...props} size="compact-xs" variant="default">
              {strings.uploadFile}
            </Button>
          )}
        </FileButton>
        <span>{value === '' ? '' : strings.certificates({ count })}</span>
      </Row>
    </Stack>
  )
}

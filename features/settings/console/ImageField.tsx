import { Button, FileButton, Input } from '@mantine/core'
import type { FieldFrame } from '@portcullis/platform/console/ui/form/field.ts'
import { Row, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { useState } from 'react'
import { dataUriOf, imageFault } from './image.ts'
import { strings } from './strings.ts'

export interface ImageFieldProps extends FieldFrame {
  /** Data URI of a PNG, or empty. */
  value: string
  onChange: (text: string) => void
}

/** A picture, checked before it is accepted, with a preview. */
export const ImageField = ({ name, value, onChange, error, label, description }: ImageFieldProps) => {
  const [fault, setFault] = useState<string | null>(null)
  const read = async (file: File) => {
    const bytes = new Uint8Array(await file.arrayBuffer())
    const found = imageFault(bytes)
    setFault(found)
    if (found === null) onChange(dataUriOf(bytes))
  }
  const isShown = value.startsWith('data:image/png;base64,')
  return (
    <Input.Wrapper label={label} description={description} error={fault ?? error}>
      <Row wrap gap={10} top={4} quiet tiny>
        {isShown ? (
          <Text
            pad="6px 10px"
            style={{
              display: 'inline-flex',
              border: '1px solid var(--pc-line)',
              borderRadius: 6,
              background: 'linear-gradient(90deg, #ffffff 50%, #151a20 50%)',
            }}
          >
            <img src={value} alt={strings.currentLogo} style={{ maxWidth: 120, maxHeight: 48 }} />
          </Text>
        ) : null}
        <FileButton
          accept="image/png"
          inputProps={{ name }}
          onChange={(file) => void (file === null ? null : read(file))}
        >
          {(props) => (
            <Button {...props} size="compact-sm" variant="default">
              {isShown ? strings.replacePicture : strings.choosePng}
            </Button>
          )}
        </FileButton>
        {value === '' ? null : (
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => {
              setFault(null)
              onChange('')
            }}
          >
            {strings.remove}
          </Button>
        )}
      </Row>
    </Input.Wrapper>
  )
}

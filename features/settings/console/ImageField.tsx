import { Button, FileButton, Input } from '@mantine/core'
import type { FieldFrame } from '@portcullis/platform/console/ui/form/field.ts'
import { Row } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { useState } from 'react'
import { dataUriOf, imageFault } from './image.ts'
import classes from './settings.module.css'
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
          <span className={classes.picture}>
            <img src={value} alt={strings.currentLogo} />
          </span>
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
            {strings.removePicture}
          </Button>
        )}
      </Row>
    </Input.Wrapper>
  )
}

import { SegmentedControl } from '@mantine/core'
import { contrast } from '@portcullis/platform/console/ui/theme/contrast.ts'
import { dark, light, type SchemeTokens, schemeVariables } from '@portcullis/platform/console/ui/theme/tokens.ts'
import { useState } from 'react'
import { BrandCard, Lines } from '#features/identity/console/shared/BrandCard.tsx'
import { brandOf, type CustomLogin } from '#features/identity/console/shared/brand.ts'
import classes from './preview.module.css'
import { strings } from './strings.ts'

const schemes: readonly { id: 'light' | 'dark'; name: string; tokens: SchemeTokens }[] = [
  { id: 'light', name: strings.light, tokens: light },
  { id: 'dark', name: strings.dark, tokens: dark },
]

// Below this contrast, a button is hard to distinguish from its card (WCAG 2.2, 1.4.11).
const minimumContrast = 3

const Field = ({ label }: { label: string }) => (
  <span className={classes.field}>
    {label}
    <span className={classes.input} />
  </span>
)

interface PictureProps {
  tokens: SchemeTokens
  custom: CustomLogin
  banner: string
  isBanner: boolean
}

const Picture = ({ tokens, custom, banner, isBanner }: PictureProps) => {
  const { background } = brandOf(custom)
  return (
    <div
      className={classes.page}
      style={{ ...schemeVariables(tokens), ...(background === null ? {} : { background }) }}
      inert
    >
      <BrandCard custom={isBanner ? { ...custom, CUSTOM_LOGIN_MESSAGE: '' } : custom} isPicture>
        {isBanner ? (
          <>
            <p className={classes.banner}>
              <Lines text={banner} />
            </p>
            <span className={classes.button}>{strings.iAccept}</span>
          </>
        ) : (
          <div className={classes.form}>
            <Field label={strings.userName} />
            <Field label={strings.password} />
            <span className={classes.button}>{strings.signIn}</span>
          </div>
        )}
      </BrandCard>
    </div>
  )
}

/** Shows the login page in both themes while it is being designed. */
export const LoginPreview = ({ texts }: { texts: Readonly<Record<string, string>> }) => {
  const [step, setStep] = useState('form')
  const text = (name: string) => texts[name] ?? ''
  const custom: CustomLogin = {
    CUSTOM_LOGIN_TITLE: text('CUSTOM_LOGIN_TITLE'),
    CUSTOM_LOGIN_MESSAGE: text('CUSTOM_LOGIN_MESSAGE'),
    CUSTOM_LOGIN_LOGO: text('CUSTOM_LOGIN_LOGO'),
    CUSTOM_LOGIN_BACKGROUND: text('CUSTOM_LOGIN_BACKGROUND'),
    CUSTOM_LOGIN_COLOR: text('CUSTOM_LOGIN_COLOR'),
  }
  const banner = text('CUSTOM_LOGIN_BANNER')
  const isBanner = banner !== '' && step === 'banner'
  const { accent } = brandOf(custom)
  const faint = schemes.filter(({ tokens }) => accent !== null && contrast(accent, tokens.surface) < minimumContrast)
  return (
    <section className={classes.preview} aria-label={strings.preview}>
      <div className={classes.head}>
        <h2>{strings.preview}</h2>
        {banner === '' ? null : (
          <SegmentedControl
            size="xs"
            aria-label={strings.shownStep}
            data={[
              { value: 'banner', label: strings.bannerFirst },
              { value: 'form', label: strings.formThen },
            ]}
            value={step}
            onChange={setStep}
          />
        )}
      </div>
      {faint.length === 0 ? null : (
        <p className={classes.note} role="note">
          {strings.lowContrast({ theme: faint.length === 1 ? (faint[0]?.id ?? 'other') : 'other' })}
        </p>
      )}
      {schemes.map(({ name, tokens }) => (
        <figure key={name} className={classes.figure}>
          <figcaption>{name}</figcaption>
          <Picture tokens={tokens} custom={custom} banner={banner} isBanner={isBanner} />
        </figure>
      ))}
    </section>
  )
}

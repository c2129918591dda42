import { strings } from '@portcullis/platform/console/lib/strings.ts'
import { contrast } from '@portcullis/platform/console/ui/theme/contrast.ts'

/** The customer's items of the sign-in page; each may be empty. */
export interface CustomLogin {
  CUSTOM_LOGIN_TITLE: string
  CUSTOM_LOGIN_MESSAGE: string
  CUSTOM_LOGIN_LOGO: string
  CUSTOM_LOGIN_BACKGROUND: string
  CUSTOM_LOGIN_COLOR: string
}

const colorOf = (text: string): string | null => (/^#[0-9a-f]{6}$/i.test(text) ? text.toLowerCase() : null)

/** Returns black or white, whichever is easier to read on a `#rrggbb` colour: at least 4.5 to 1 on any of them. */
export const readableOn = (color: string): string => {
  const [light, dark] = ['#ffffff', '#000000']
  return contrast(color, light) >= contrast(color, dark) ? light : dark
}

/** Returns the design of the sign-in page; null where the theme decides. Accepts only a PNG and plain colours. */
export const brandOf = (custom: CustomLogin | undefined) => {
  const accent = colorOf(custom?.CUSTOM_LOGIN_COLOR ?? '')
  const logo = custom?.CUSTOM_LOGIN_LOGO ?? ''
  return {
    title: custom?.CUSTOM_LOGIN_TITLE || strings.portcullis,
    message: custom?.CUSTOM_LOGIN_MESSAGE ?? '',
    logo: /^data:image\/png;base64,[A-Za-z0-9+/]+={0,2}$/.test(logo) ? logo : null,
    background: colorOf(custom?.CUSTOM_LOGIN_BACKGROUND ?? ''),
    accent,
    onAccent: accent === null ? null : readableOn(accent),
  }
}

import { contrast } from '@portcullis/platform/console/ui/theme/contrast.ts'
import { expect, it } from 'vitest'
import { brandOf, readableOn } from './brand.ts'

const custom = {
  CUSTOM_LOGIN_TITLE: '',
  CUSTOM_LOGIN_MESSAGE: '',
  CUSTOM_LOGIN_LOGO: '',
  CUSTOM_LOGIN_BACKGROUND: '',
  CUSTOM_LOGIN_COLOR: '',
}

it('chooses readable text for every accent colour', () => {
  for (let red = 0; red < 256; red += 17)
    for (let green = 0; green < 256; green += 17)
      for (let blue = 0; blue < 256; blue += 17) {
        const color = `#${[red, green, blue].map((part) => part.toString(16).padStart(2, '0')).join('')}`
        expect(contrast(color, readableOn(color)), color).toBeGreaterThanOrEqual(4.5)
      }
  expect(readableOn('#ffe600')).toBe('#000000')
  expect(readableOn('#7a0010')).toBe('#ffffff')
})

it('ignores colours with extra CSS and images that are not PNG', () => {
  const brand = brandOf({
    ...custom,
    CUSTOM_LOGIN_COLOR: '#fff;background:url(https://example.org)',
    CUSTOM_LOGIN_BACKGROUND: 'red',
    CUSTOM_LOGIN_LOGO: 'data:image/svg+xml;base64,PHN2Zy8+',
  })
  expect(brand).toEqual({
    title: 'Portcullis',
    message: '',
    logo: null,
    background: null,
    accent: null,
    onAccent: null,
  })
})

it('uses valid titles, colours and logos', () => {
  expect(
    brandOf({
      ...custom,
      CUSTOM_LOGIN_TITLE: '<b>',
      CUSTOM_LOGIN_COLOR: '#7A0010',
      CUSTOM_LOGIN_LOGO: 'data:image/png;base64,iVBORw==',
    }),
  ).toMatchObject({ title: '<b>', accent: '#7a0010', onAccent: '#ffffff', logo: 'data:image/png;base64,iVBORw==' })
})

import { readFileSync } from 'node:fs'
import type { Plugin } from 'vite'
import { dark, fonts, light, type SchemeTokens, schemeVariables } from '../src/ui/theme/tokens.ts'

const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8')

const variables = (selector: string, tokens: SchemeTokens) =>
  `${selector}{${Object.entries(schemeVariables(tokens))
    .map(([name, value]) => `${name}:${value}`)
    .join(';')}}`

const schemes = [
  variables('[data-mantine-color-scheme="light"]', light),
  variables('[data-mantine-color-scheme="dark"]', dark),
]

/** Tags that load the application. They must come after the shell, or they would block it. */
const applicationTag = /\s*<(?:script type="module"[^>]*><\/script>|link rel="(?:modulepreload|stylesheet)"[^>]*>)/g

/**
 * Adds the shell to the page: first its inline style and script, then the files of the application. A browser then
 * renders the shell from the first response, even if the files are slow or missing. The server replaces the nonce in
 * each response.
 */
export const shell = (): Plugin => ({
  name: 'portcullis-shell',
  transformIndexHtml: {
    order: 'post',
    handler: (html) => {
      const tags = html.match(applicationTag) ?? []
      // Insert the style before scripts run, so that the first paint includes it.
      const sorted = tags.toSorted(
        (one, other) => Number(other.includes('"stylesheet"')) - Number(one.includes('"stylesheet"')),
      )
      const inline = [
        `<style nonce="__CSP_NONCE__">${[...schemes, `:root{--pc-font:${fonts.text}}`, read('shell/shell.css')].join('\n')}</style>`,
        `<script nonce="__CSP_NONCE__">${read('shell/shell.js')}</script>`,
      ]
      return html
        .replace(applicationTag, '')
        .replace('</head>', () => `  ${inline.join('\n    ')}\n  </head>`)
        .replace('</body>', () => `${sorted.join('')}\n  </body>`)
    },
  },
})

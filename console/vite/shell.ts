import { readFileSync } from 'node:fs'
import type { Plugin } from 'vite'
import { dark, light, type SchemeTokens, schemeVariables } from '../src/ui/theme/tokens.ts'

const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8')

const variables = (selector: string, tokens: SchemeTokens) =>
  `${selector}{${Object.entries(schemeVariables(tokens))
    .map(([name, value]) => `${name}:${value}`)
    .join(';')}}`

const schemes = [
  variables('[data-mantine-color-scheme="light"]', light),
  variables('[data-mantine-color-scheme="dark"]', dark),
]

/** Tags that load the application: none of them may stand before the shell, which would wait for it. */
const applicationTag = /\s*<(?:script type="module"[^>]*><\/script>|link rel="(?:modulepreload|stylesheet)"[^>]*>)/g

/**
 * Puts the shell into the page: its style and script inline, before everything else, and the files of the application
 * behind it. A browser then draws the shell from the first answer, however slow or absent the files are. The server
 * replaces the nonce in each answer.
 */
export const shell = (): Plugin => ({
  name: 'portcullis-shell',
  transformIndexHtml: {
    order: 'post',
    handler: (html) => {
      const tags = html.match(applicationTag) ?? []
      // A style that is there when a script runs is not missed by the first picture.
      const sorted = tags.toSorted(
        (one, other) => Number(other.includes('"stylesheet"')) - Number(one.includes('"stylesheet"')),
      )
      const inline = [
        `<style nonce="__CSP_NONCE__">${[...schemes, read('shell/shell.css')].join('\n')}</style>`,
        `<script nonce="__CSP_NONCE__">${read('shell/shell.js')}</script>`,
      ]
      return html
        .replace(applicationTag, '')
        .replace('</head>', () => `  ${inline.join('\n    ')}\n  </head>`)
        .replace('</body>', () => `${sorted.join('')}\n  </body>`)
    },
  },
})

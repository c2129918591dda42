import { readFileSync } from 'node:fs'
import { dark, fonts, light, type SchemeTokens, schemeVariables } from '@portcullis/platform/console/ui/theme/tokens.ts'
import type { Plugin } from 'vite'

const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8')

const variables = (selector: string, tokens: SchemeTokens) =>
  `${selector}{${Object.entries(schemeVariables(tokens))
    .map(([name, value]) => `${name}:${value}`)
    .join(';')}}`

const schemes = [
  variables('[data-mantine-color-scheme="light"]', light),
  variables('[data-mantine-color-scheme="dark"]', dark),
]

/** The pages that are opened most, by the first segment of their address, and their modules. */
const commonPages: Readonly<Record<string, string>> = {
  'sign-in': 'features/identity/console/sign-in/SignInPage.tsx',
  '': 'console/src/app/OverviewScreen.tsx',
  agents: 'console/src/app/AgentsScreen.tsx',
  peripherals: 'features/devices/console/PeripheralsPage.tsx',
  approvals: 'features/policy/console/approvals/ApprovalsPage.tsx',
  alerts: 'features/alerts/console/inbox/AlertsPage.tsx',
}

type Bundle = Readonly<
  Record<string, { type: string; isEntry?: boolean; facadeModuleId?: string | null; imports?: string[] }>
>

/** Returns the files of each common page that the first load does not contain. */
const filesOfPages = (bundle: Bundle): Record<string, string[]> => {
  const chunks = Object.entries(bundle).filter(([, { type }]) => type === 'chunk')
  const withImports = (file: string, known: Set<string>): Set<string> => {
    if (known.has(file)) return known
    known.add(file)
    for (const one of bundle[file]?.imports ?? []) withImports(one, known)
    return known
  }
  const initial = new Set(
    chunks.filter(([, { isEntry }]) => isEntry === true).flatMap(([file]) => [...withImports(file, new Set())]),
  )
  return Object.fromEntries(
    Object.entries(commonPages).map(([name, module]) => {
      const page = chunks.find(([, { facadeModuleId }]) => facadeModuleId?.endsWith(`/${module}`) === true)
      if (page === undefined) throw new Error(`no chunk for ${module}`)
      return [name, [...withImports(page[0], new Set())].filter((file) => !initial.has(file)).map((file) => `/${file}`)]
    }),
  )
}

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
    handler: (html, { bundle }) => {
      const pages = bundle === undefined ? {} : filesOfPages(bundle as Bundle)
      const tags = html.match(applicationTag) ?? []
      // Insert the style before scripts run, so that the first paint includes it.
      const sorted = tags.toSorted(
        (one, other) => Number(other.includes('"stylesheet"')) - Number(one.includes('"stylesheet"')),
      )
      const inline = [
        `<style nonce="__CSP_NONCE__">${[...schemes, `:root{--pc-font:${fonts.text}}`, read('shell/shell.css')].join('\n')}</style>`,
        `<script nonce="__CSP_NONCE__">${read('shell/shell.js').replace('__PAGES__', () => JSON.stringify(pages))}</script>`,
      ]
      return html
        .replace(applicationTag, '')
        .replace('</head>', () => `  ${inline.join('\n    ')}\n  </head>`)
        .replace('</body>', () => `${sorted.join('')}\n  </body>`)
    },
  },
})

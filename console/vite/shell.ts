import { readFileSync } from 'node:fs'
import { authProviders, signedInFragment } from '@portcullis/features/contract.ts'
import { dark, fonts, light, type SchemeTokens, schemeVariables } from '@portcullis/platform/console/ui/theme/tokens.ts'
import type { Plugin } from 'vite'
import { openPages } from '../src/app/sign-in-address.ts'

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
  '': 'console/src/app/OverviewScreen.tsx',
  agents: 'console/src/app/AgentsScreen.tsx',
  peripherals: 'features/devices/console/PeripheralsPage.tsx',
  approvals: 'features/policy/console/approvals/ApprovalsPage.tsx',
  alerts: 'features/alerts/console/inbox/AlertsPage.tsx',
}

type Bundle = Readonly<
  Record<string, { type: string; isEntry?: boolean; facadeModuleId?: string | null; imports?: string[] }>
>

/** What the inline script loads. */
interface Files {
  /** The sign-in page. */
  signIn: string[]
  /** The application, without its pages. */
  app: string[]
  /** The common pages, by the first segment of their address. */
  pages: Record<string, string[]>
  style: string
}

const filesOf = (bundle: Bundle): Files => {
  const chunks = Object.entries(bundle).filter(([, { type }]) => type === 'chunk')
  const withImports = (file: string, known: Set<string>): Set<string> => {
    if (known.has(file)) return known
    known.add(file)
    for (const one of bundle[file]?.imports ?? []) withImports(one, known)
    return known
  }
  const filesOfModule = (module: string): string[] => {
    const chunk = chunks.find(([, { facadeModuleId }]) => facadeModuleId?.endsWith(`/${module}`) === true)
    if (chunk === undefined) throw new Error(`no chunk for ${module}`)
    return [...withImports(chunk[0], new Set())].map((file) => `/${file}`)
  }
  const app = filesOfModule('console/src/app/main.tsx')
  return {
    signIn: filesOfModule('console/src/app/sign-in.tsx'),
    app,
    pages: Object.fromEntries(
      Object.entries(commonPages).map(([name, module]) => [
        name,
        filesOfModule(module).filter((file) => !app.includes(file)),
      ]),
    ),
    style: `/${Object.keys(bundle).find((file) => file.endsWith('.css'))}`,
  }
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
      // The development server adds the styles itself.
      const files: Files =
        bundle === undefined ? { signIn: [], app: [], pages: {}, style: '' } : filesOf(bundle as Bundle)
      // The inline script adds the styles, so that the sign-in page does not wait for them.
      const tags = (html.match(applicationTag) ?? []).filter((tag) => !tag.includes('"stylesheet"'))
      const script = Object.entries({
        __FILES__: files,
        __OPEN_PAGES__: openPages,
        __SIGNED_IN__: signedInFragment,
        __PROVIDERS__: authProviders.path,
      }).reduce((text, [name, value]) => text.replaceAll(name, () => JSON.stringify(value)), read('shell/shell.js'))
      const inline = [
        `<style nonce="__CSP_NONCE__">${[...schemes, `:root{--pc-font:${fonts.text}}`, read('shell/shell.css')].join('\n')}</style>`,
        `<script nonce="__CSP_NONCE__">${script}</script>`,
      ]
      return html
        .replace(applicationTag, '')
        .replace('</head>', () => `  ${inline.join('\n    ')}\n  </head>`)
        .replace('</body>', () => `${tags.join('')}\n  </body>`)
    },
  },
})

import { createHash } from 'node:crypto'
import type { ErrorDefinition } from '../../contract/error-definition.ts'
import { errorTable } from '../../contract/errors.ts'
import type { AnyOperation } from '../../contract/operation.ts'
import { escapeHtml } from '../html.ts'
import { notesOf, shapeText } from './docs-shape.ts'
import { plainErrorsText } from './openapi-problems.ts'
import type { OpenApiDocument, OpenApiOperation, OpenApiResponse } from './openapi-types.ts'

/** Escapes a text and marks up its `code`. */
const prose = (text: string): string => escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>')

const style = `
:root{color-scheme:light dark;--line:light-dark(#d0d7de,#3d444d);--soft:light-dark(#f6f8fa,#161b22);--dim:light-dark(#57606a,#9198a1);--link:light-dark(#0550ae,#79c0ff)}
body{font:16px/1.55 system-ui,sans-serif;margin:0 auto;max-width:60rem;padding:1.5rem;color:light-dark(#1f2328,#e6edf3);background:light-dark(#fff,#0d1117)}
a{color:var(--link)}h1{font-size:1.7rem}h2{margin-top:2.5rem;border-bottom:1px solid var(--line)}h3{margin:2rem 0 .3rem;font-size:1.05rem}h4{margin:.9rem 0 .2rem;font-size:.95rem}
code,pre{font:.875em/1.5 ui-monospace,monospace}pre{background:var(--soft);border:1px solid var(--line);border-radius:6px;padding:.7rem;overflow-x:auto}
table{border-collapse:collapse;width:100%}td,th{border:1px solid var(--line);padding:.3rem .55rem;text-align:left;vertical-align:top}
nav li{margin:.1rem 0}img{max-width:100%}.dim{color:var(--dim)}:target{background:light-dark(#fff8c5,#3b2e0a);scroll-margin-top:1rem}
`

/** Content security policy of these pages: no scripts, no requests, and one style, identified by its hash. */
export const docsPolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** Returns a page of the help or the reference around trusted HTML. */
export const docsPage = (title: string, body: string): string =>
  `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title><style>${style}</style></head>
<body><nav aria-label="Documentation"><a href="/">Console</a> · <a href="/help/guide">Guides</a> · <a href="/docs">Operations</a> · <a href="/docs/errors">Errors</a> · <a href="/openapi.json">OpenAPI</a></nav>
<main>${body}</main></body></html>
`

/** Returns the page with all error codes, their causes and cures. The codes are the anchors. */
export const errorsPage = (operations: readonly AnyOperation[]): string => {
  const entries = Object.entries(errorTable) as [string, ErrorDefinition][]
  const sections = entries.map(
    ([code, { status, title, cause, cure }]) =>
      `<section id="${code}"><h2><code>${code}</code></h2><p><strong>${status} ${escapeHtml(title)}</strong></p><h4>Cause</h4><p>${prose(cause)}</p><h4>Cure</h4><p>${prose(cure)}</p></section>`,
  )
  return docsPage(
    'Errors',
    `<h1>Errors</h1><p>All error responses are <code>application/problem+json</code> with one of these codes. With <code>Accept: text/plain</code>, the response contains only the detail. ${prose(plainErrorsText(operations))}</p><ul>${entries
      .map(([code, { status }]) => `<li>${status} <a href="#${code}"><code>${code}</code></a></li>`)
      .join('')}</ul>${sections.join('')}`,
  )
}

const codesOf = (document: OpenApiDocument, response: OpenApiResponse | { $ref: string }): string[] => {
  const resolved =
    '$ref' in response
      ? document.components.responses[response.$ref.slice(response.$ref.lastIndexOf('/') + 1)]
      : response
  return Object.keys(resolved?.content?.['application/problem+json']?.examples ?? {})
}

const contentHtml = (content: OpenApiResponse['content'] | undefined): string => {
  const [type, body] = Object.entries(content ?? {})[0] ?? []
  if (type === undefined || body === undefined) return ''
  const example =
    body.example === undefined
      ? ''
      : `<pre>${escapeHtml(typeof body.example === 'string' ? body.example : JSON.stringify(body.example, null, 2))}</pre>`
  const { $ref } = body.schema
  const shape =
    typeof $ref === 'string'
      ? `<p>Shape <a href="#shape-${$ref.split('/').at(-1)}"><code>${$ref.split('/').at(-1)}</code></a>, <code>${escapeHtml(type)}</code></p>`
      : `<p><code>${escapeHtml(type)}</code></p><pre>${escapeHtml(shapeText(body.schema))}</pre>`
  return `${shape}${example === '' ? '' : `<details><summary>Example</summary>${example}</details>`}`
}

const parametersHtml = ({ parameters = [] }: OpenApiOperation): string =>
  parameters.length === 0
    ? ''
    : `<h4>Parameters</h4><table><thead><tr><th>Name</th><th>In</th><th>Type</th><th>Meaning</th></tr></thead><tbody>${parameters
        .map(
          ({ name, in: place, required, schema, description }) =>
            `<tr><td><code>${escapeHtml(name)}</code>${required ? ' (required)' : ''}</td><td>${place}</td><td><code>${escapeHtml(shapeText(schema))}</code></td><td>${prose(notesOf({ ...schema, description: description ?? '' }))}</td></tr>`,
        )
        .join('')}</tbody></table>`

const operationHtml = (
  document: OpenApiDocument,
  method: string,
  path: string,
  operation: OpenApiOperation,
): string => {
  const { '200': success, '302': redirect, default: _, ...problems } = operation.responses
  const rows = Object.entries(problems).map(
    ([status, response]) =>
      `<tr><td>${status}</td><td>${codesOf(document, response)
        .map((code) => `<a href="/docs/errors#${code}"><code>${code}</code></a>`)
        .join(', ')}</td></tr>`,
  )
  const body = operation.requestBody
  return `<section id="${operation.operationId}"><h3><code>${method.toUpperCase()} ${escapeHtml(path)}</code></h3><p><strong>${prose(operation.summary)}</strong></p>${(
    operation.description ?? ''
  )
    .split('\n\n')
    .map((text) => `<p>${prose(text)}</p>`)
    .join('')}${parametersHtml(operation)}${
    body === undefined ? '' : `<h4>Body${body.required ? '' : ' (optional)'}</h4>${contentHtml(body.content)}`
  }<h4>Response</h4>${
    redirect === undefined ? contentHtml((success as OpenApiResponse).content) : '<p>302, a redirect for browsers.</p>'
  }<h4>Errors</h4><table><tbody>${rows.join('')}</tbody></table></section>`
}

/** Returns the page with all operations and their parameters, shapes, examples and errors. */
export const operationsPage = (document: OpenApiDocument): string => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const groups = document.tags.map(({ name, description }) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(name))
    return {
      list: `<li>${escapeHtml(name)}<ul>${own
        .map(
          ({ method, path, operation }) =>
            `<li><a href="#${operation.operationId}"><code>${method.toUpperCase()} ${escapeHtml(path)}</code></a> <span class="dim">${escapeHtml(operation.summary)}</span></li>`,
        )
        .join('')}</ul></li>`,
      body: `<h2>${escapeHtml(name)}</h2><p>${prose(description)}</p>${own
        .map(({ method, path, operation }) => operationHtml(document, method, path, operation))
        .join('')}`,
    }
  })
  const shapes = Object.entries(document.components.schemas).map(
    ([name, schema]) =>
      `<section id="shape-${name}"><h3><code>${name}</code></h3>${schema.description === undefined ? '' : `<p>${prose(schema.description)}</p>`}<pre>${escapeHtml(shapeText(schema))}</pre></section>`,
  )
  return docsPage(
    `${document.info.title} ${document.info.version}`,
    `<h1>${escapeHtml(document.info.title)} ${escapeHtml(document.info.version)}: operations</h1><p>${prose(document.info.description)}</p><ul>${groups
      .map((group) => group.list)
      .join('')}</ul>${groups.map((group) => group.body).join('')}<h2>Shapes</h2>${shapes.join('')}`,
  )
}

import { escapeHtml } from '@portcullis/platform/server/html.ts'

/** The content of a mail before its layout. Every part may come from a host or a person: none of it is markup. */
export interface MailContent {
  subject: string
  heading: string
  paragraphs: readonly string[]
  /** `isOneTime`: the link itself gives access, for example to set a password. */
  link?: { text: string; url: string; isOneTime?: boolean }
}

/** Returns one line without control or direction characters: a line end in a subject would start another header. */
export const subjectLine = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, 200)

/** Formats a mail as plain text and as HTML without external images, scripts or styles. */
export const layOut = ({ heading, paragraphs, link }: MailContent): { text: string; html: string } => ({
  text: [heading, ...paragraphs, ...(link === undefined ? [] : [`${link.text}:\n${link.url}`])].join('\n\n'),
  html: [
    '<!doctype html><html lang="en"><body style="font-family:sans-serif;max-width:40em;margin:1em auto;color:#212529">',
    `<h1 style="font-size:1.25em">${escapeHtml(heading)}</h1>`,
    ...paragraphs.map((text) => `<p>${escapeHtml(text).replaceAll('\n', '<br>')}</p>`),
    ...(link === undefined ? [] : [`<p><a href="${escapeHtml(link.url)}">${escapeHtml(link.text)}</a></p>`]),
    '</body></html>',
  ].join('\n'),
})

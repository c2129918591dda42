/** The browser API that this needs. Older browsers do not have it. */
export interface TrustedTypesHost {
  trustedTypes?: {
    createPolicy: (name: string, rules: { createHTML: (text: string) => string }) => unknown
  }
}

/**
 * Accepts only text without markup as HTML. The component kit sets the text of its `<style>` elements by innerHTML, which
 * needs a policy under `require-trusted-types-for 'script'`. Text without `<` creates no element, so the sink stays closed
 * for everything else.
 */
export const allowPlainHtmlOnly = (host: TrustedTypesHost): void => {
  host.trustedTypes?.createPolicy('default', {
    createHTML: (text) => {
      if (text.includes('<')) throw new TypeError('Markup is never set as a text in this console.')
      return text
    },
  })
}

/** The part of the browser that this needs; older ones have none. */
export interface TrustedTypesHost {
  trustedTypes?: {
    createPolicy: (name: string, rules: { createHTML: (text: string) => string }) => unknown
  }
}

/**
 * Lets through as HTML only what holds no markup. The component kit sets the text of its `<style>` elements by
 * innerHTML; with `require-trusted-types-for 'script'` that needs a policy. A text without `<` makes no element, so the
 * sink stays closed for everything else.
 */
export const allowPlainHtmlOnly = (host: TrustedTypesHost): void => {
  host.trustedTypes?.createPolicy('default', {
    createHTML: (text) => {
      if (text.includes('<')) throw new TypeError('Markup is never set as a text in this console.')
      return text
    },
  })
}

/** A word with its inner punctuation: a name, an address, a path segment, a number, a time. */
const token = /[\p{L}\p{M}\p{N}_](?:[\p{L}\p{M}\p{N}_.@:\\-]*[\p{L}\p{M}\p{N}_])?|::1?(?![\p{L}\p{N}])/gu

/** Returns the words of a text. */
export const tokensOf = (text: string): string[] => text.match(token) ?? []

/** Replaces each word of a text. */
export const replaceTokens = (text: string, replace: (word: string) => string): string => text.replace(token, replace)

/** Deliberate differences from the interface of version 0.1, each with its reason. */
export const accepted: readonly { matches: RegExp; why: string }[] = [
  {
    matches: /^\S+ \/prime\/webui\/(?:admin|auth)\/\S+: response\S* may be (?:absent|null|string) now$/,
    why: 'The document describes accounts by one schema for requests and responses, as the specification does. The server still sends every field, and never a password.',
  },
  {
    matches: /^\S+ \/prime\/webui\/systemNotification\/\S+: response\S* may be absent now$/,
    why: 'The document describes notification groups and notices by one schema for requests and responses, as the specification does. The server still sends every field.',
  },
  {
    matches: /: response\S*\.parentDeviceID may be null now$/,
    why: 'A device at a root port has no parent. Version 0.1 sent an empty string, which no device has as its id.',
  },
]

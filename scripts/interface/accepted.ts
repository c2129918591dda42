/** Deliberate differences from the interface of version 0.1, each with its reason. */
export const accepted: readonly { matches: RegExp; why: string }[] = [
  {
    matches:
      /^\S+ \/prime\/webui\/(?:admin|auth)\/\S+: response\S* may be (?:absent|(?:null|string|boolean|number|integer)(?:, (?:null|number|integer))*) now$/,
    why: 'The document describes accounts by one schema for requests and responses, as the specification does. The server still sends every field, and never a password.',
  },
  {
    matches: /^\S+ \/prime\/webui\/systemNotification\/\S+: response\S* may be absent now$/,
    why: 'The document describes notification groups and notices by one schema for requests and responses, as the specification does. The server still sends every field.',
  },
  {
    matches:
      /^\S+ \/prime\/webui\/(?:policy\/grants\S*|systemNotification\/riskNotifications\/dismiss): body\S* maxLength is tighter$/,
    why: 'Times and members of alerts had no maximum, so their bodies could have 8 MiB. No value that the server sends is longer than the new maximum.',
  },
  {
    matches: /: response\S*\.parentDeviceID may be null now$/,
    why: 'A device at a root port has no parent. Version 0.1 sent an empty string, which no device has as its id.',
  },
  {
    matches: /^POST \/prime\/webui\/(?:admin\/apiTokens|rollouts\/\S+): body\S*\.name has another pattern$/,
    why: 'The pattern names control characters by their numbers instead of `\\p{Cc}`, which Python cannot read. It matches the same strings.',
  },
  {
    matches: /connectiondetailsstatus: query\.IsOverrideDefaults is no longer taken as string$/,
    why: 'The specification describes this filter as a boolean. The server accepts the same values as before, and ignores their case.',
  },
  {
    matches: /^POST \/prime\/webui\/policy\/changerequests\/\{id\}\/approve: the body is required now$/,
    why: 'An approval names the digest of what the approver read. Without it, an approver could approve what they never saw.',
  },
]

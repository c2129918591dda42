import { withPageWords } from '@portcullis/platform/console/ui/words.ts'

export const strings = withPageWords({
  unused: 'No rule, active rollout or quarantine setting uses it.',
  affectedRules:
    '{count, plural, one {# rule will no longer apply to any host:} other {# rules will no longer apply to any host:}}',
  affectedRollouts: '{count, plural, one {# rollout uses it for a ring:} other {# rollouts use it for a ring:}}',
  affectedExclusions: '{systems} will be able to quarantine its hosts automatically.',
  tagDeleted: 'Tag deleted.',
  deleteUnused: 'Tag {tag} is not used by any host or device.',
  deleteEffect:
    'Tag {tag} will be removed from {hosts, plural, one {# host} other {# hosts}} and {devices, plural, one {# device} other {# devices}}. You cannot undo this, but you can import a previous export.',
  loadingUses: 'Checking where the tag is used…',
  deleteTag: 'Delete tag',
  lineError: 'Line {line}: {message}',
  importEffect:
    '{file}, {size, number} KiB. Each listed host and device gets exactly the tags on its line; its other tags are removed. Hosts and devices that are not listed do not change. Lines with errors are skipped.',
  checking: 'Checking the file…',
  import: 'Import',
  importLines: 'Import {count, plural, one {# line} other {# lines}}',
  importTags: 'Import tags',
  tagExists: 'This tag already exists.',
  tagAdded: 'Tag added.',
  newTag: 'New tag',
  addTag: 'Add tag',
  intro:
    'Tags group hosts and devices. Use them in filters, rules and rollouts, and to exclude hosts from automatic quarantine.',
  askImport: 'Import CSV…',
  find: 'Find',
  empty: 'No tags yet. Add a tag here, or type one on a host.',
  noMatch: 'No tags match. Names ignore case.',
  filteredCount: '{found, number} of {total, plural, one {# tag} other {# tags}}',
  forescoutCounteract: 'Forescout CounterACT',
  importable: '{count, plural, one {# line can be imported} other {# lines can be imported}}',
  imported: '{count, plural, one {# line imported} other {# lines imported}}',
  faulty: '{count, plural, one {# line has an error} other {# lines have errors}}',
  tagCount: '{count, plural, one {# tag} other {# tags}}',
})

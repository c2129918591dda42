import { withPageWords } from '@portcullis/platform/console/ui/words.ts'

export const strings = withPageWords({
  savedViews: 'Saved views',
  allRows: 'All',
  saveView: 'Save view…',
  saveTitle: 'Save view',
  viewName: 'Name',
  sharedView: 'Share with all accounts',
  saveAs: 'Save as',
  newView: 'A new view',
  replaceView: 'Replace “{name}”',
  viewSaved: 'Saved the view “{name}”.',
  sharedBy: 'Shared by {owner}',
  sharedByNobody: 'Shared',
  viewMenu: 'Actions for the view {name}',
  pin: 'Pin to navigation',
  unpin: 'Unpin from navigation',
  deleteView: 'Delete view…',
  deleteTitle: 'Delete view',
  deleteShared: 'It disappears for all accounts. You cannot undo this.',
  deletePrivate: 'You cannot undo this.',
  viewDeleted: 'Deleted the view “{name}”.',
  viewCount: '{count, plural, one {# view} other {# views}}',
  missingParts:
    'This list no longer has: {names}. The rest of the view applies. To remove {count, plural, one {this name} other {these names}}, save the view again.',
})

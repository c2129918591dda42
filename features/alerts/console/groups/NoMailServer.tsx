import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Notice } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { Link } from '@tanstack/react-router'
import { strings } from './strings.ts'

/** Says that mails cannot be sent before a mail server is set up. */
export const NoMailServer = () => (
  <Notice role="note">
    <Icon name="info" />
    <span>
      {strings.noMailServer({
        link: (text) => (
          <Link to="/settings/$page" params={{ page: 'mail' }}>
            {text}
          </Link>
        ),
      })}
    </span>
  </Notice>
)

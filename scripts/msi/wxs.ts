/** Describes the Windows Installer package of the agent for wixl. */
import { nodeFlags } from '../../agent/src/node-flags.ts'
import { SERVICE_NAME } from '../../agent/src/platform/windows/setup.ts'
import { guidOf, UPGRADE_CODE } from './ids.ts'

/** Name of the agent in the list of programs and services. */
const NAME = 'Portcullis Agent'

export interface PackagedFile {
  /** Identifier in the package, and name of the file. */
  name: string
  /** Path that wixl reads, relative to its folder. */
  source: string
}

/** File of the command for administrators. Its folder contains nothing else, so that `node` is not in the search path. */
export const COMMAND_NAME = 'portcullis-agent.cmd'
/** Only administrators can write to the folder, because it is below Program Files. */
const SEARCH_PATH =
  '<Environment Id="SearchPath" Name="PATH" Value="[BINDIR]" Part="last" Action="set" System="yes" Permanent="no"/>'

const escapeXml = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign] ?? sign)

/** Arguments of the service after the path of node.exe. */
const SERVICE_ARGUMENTS = `${nodeFlags.join(' ')} "[INSTALLDIR]agent.cjs" service`

/** Properties that the command line of msiexec can set. */
export const PUBLIC_PROPERTIES = [
  'SERVERURL',
  'TOKEN',
  'PORTCULLIS_AGENT_PROXY',
  'PORTCULLIS_AGENT_NO_PROXY',
  'PORTCULLIS_AGENT_PROXY_CREDENTIALS_FILE',
]

/**
 * Arguments of the command that writes the settings, in the order of `agent/src/platform/windows/setup.ts`. Windows
 * Installer has no other way to pass values to a program that runs as LocalSystem.
 */
const configureValues = (presets: readonly string[]): string => {
  const [server, token, ...proxy] = PUBLIC_PROPERTIES
  const names = [server, token, ...presets, ...proxy]
  return names.map((name) => (name === '' ? '""' : `"[${name}]"`)).join(' ')
}

/** Values that Windows Installer must not write to a log. The command line of an action contains them. */
const HIDDEN_PROPERTIES = ['TOKEN', 'PresetToken', 'Configure', 'Reconfigure']

/** Start of the text of an empty slot. Conditions of the package compare with it. */
const SLOT_START = 'PORTCULLIS-SLOT-'
/** Lengths of the values that a server writes into the package: the address and the token. */
export const SLOTS = { PresetServer: 512, PresetToken: 512 } as const

/** Returns the text of an empty slot. It is unique and as long as the slot. */
export const emptySlot = (name: keyof typeof SLOTS): string => `${SLOT_START}${name}-`.padEnd(SLOTS[name], '.')

const action = (id: string, command: string, attributes: string, impersonate: 'yes' | 'no' = 'no'): string =>
  `<CustomAction Id="${id}" FileKey="node.exe" ExeCommand="${escapeXml(`"[INSTALLDIR]agent.cjs" ${command}`)}" Impersonate="${impersonate}" ${attributes}/>`

const property = (id: string, value: string): string => `<Property Id="${id}" Value="${escapeXml(value)}"/>`

/**
 * Order of the actions, because wixl does not order them. The numbers of Windows are 2000 DeleteServices, 3500
 * RemoveFiles, 5800 InstallServices, 5900 StartServices and 6600 InstallFinalize.
 */
export const SEQUENCE = {
  Purge: 2100,
  RollBack: 5830,
  Configure: 5840,
  Reconfigure: 5950,
  // After the installation. Both versions are registered while the old one is removed, so the old one detects the
  // upgrade.
  RemoveExistingProducts: 6650,
  // A verbose log ends with the values of all properties.
  ForgetToken: 6660,
  ForgetPreset: 6670,
} as const

/** Messages that Windows Installer shows when it refuses to install, each with the condition that must be true. */
const CONDITIONS: readonly (readonly [condition: string, message: string])[] = [
  ['VersionNT >= 603 OR Installed', 'The Portcullis agent needs Windows 10, Windows Server 2016 or later.'],
  [
    'NOT NEWERFOUND OR Installed',
    'A newer version of the Portcullis agent is installed. Uninstall it before you install an older one.',
  ],
  [
    `SERVERURL OR Installed OR OLDERFOUND OR NOT (PresetServer << "${SLOT_START}")`,
    'The address of the Portcullis server is missing. Add SERVERURL=https://... to the command line of msiexec.',
  ],
  [
    'NOT SERVERURL OR SERVERURL ~<< "https://" OR SERVERURL ~<< "http://"',
    'SERVERURL is not an address. Use an address such as https://portcullis.example.org:8443.',
  ],
  [
    'NOT TOKEN OR TOKEN << "pce_"',
    'TOKEN is not an enrolment token. Copy it again from the console (Hosts, Add hosts).',
  ],
]

/**
 * Returns the description of the package. Its programs run as LocalSystem only when an administrator installs or removes
 * it: every user can start a repair, and the window and the environment of a program could be theirs.
 *
 * @param options.contents digest of the contents. The product code depends on it, because Windows does not replace a
 *   version with a different package with the same code.
 */
export const describePackage = (options: {
  version: string
  contents: string
  files: readonly PackagedFile[]
}): string => {
  const { version, contents, files } = options
  const file = ({ name, source }: PackagedFile): string => {
    const body = `<File Id="${name}" Name="${name}" Source="${source}" KeyPath="yes"/>`
    const service = `<ServiceInstall Id="Service" Name="${SERVICE_NAME}" DisplayName="${NAME}" Description="Reports the USB devices of this computer to the Portcullis server and applies its policy." Type="ownProcess" Start="auto" ErrorControl="normal" Arguments="${escapeXml(SERVICE_ARGUMENTS)}"/>
          <ServiceControl Id="ServiceControl" Name="${SERVICE_NAME}" Start="install" Stop="both" Remove="uninstall" Wait="yes"/>`
    return `<Component Id="C.${name}" Guid="${guidOf(`component ${name}`)}">${body}${name === 'node.exe' ? service : ''}${name === COMMAND_NAME ? SEARCH_PATH : ''}</Component>`
  }
  const isCommand = ({ name }: PackagedFile): boolean => name === COMMAND_NAME
  return `<?xml version="1.0" encoding="utf-8"?>
<Wix xmlns="http://schemas.microsoft.com/wix/2006/wi">
  <Product Id="${guidOf(`product ${version} ${contents}`)}" Name="${NAME}" Language="1033" Version="${version}" Manufacturer="Portcullis" UpgradeCode="${UPGRADE_CODE}">
    <Package InstallerVersion="500" Compressed="yes" InstallScope="perMachine" Description="${NAME} ${version}"/>
    <Media Id="1" Cabinet="agent.cab" EmbedCab="yes"/>
    ${property('ARPNOMODIFY', '1')}
    ${property('REBOOT', 'ReallySuppress')}
    ${property('REINSTALLMODE', 'amus')}
    ${property('MsiHiddenProperties', HIDDEN_PROPERTIES.join(';'))}
    ${Object.keys(SLOTS)
      .map((name) => property(name, emptySlot(name as keyof typeof SLOTS)))
      .join('\n    ')}
    <Upgrade Id="${UPGRADE_CODE}">
      <UpgradeVersion Minimum="${version}" IncludeMinimum="no" OnlyDetect="yes" Property="NEWERFOUND"/>
      <UpgradeVersion Minimum="0.0.0" IncludeMinimum="yes" Maximum="${version}" IncludeMaximum="yes" Property="OLDERFOUND"/>
    </Upgrade>
    ${CONDITIONS.map(([condition, message]) => `<Condition Message="${escapeXml(message)}">${escapeXml(condition)}</Condition>`).join('\n    ')}
    <Directory Id="TARGETDIR" Name="SourceDir">
      <Directory Id="ProgramFiles64Folder">
        <Directory Id="INSTALLDIR" Name="${NAME}">
          ${files
            .filter((one) => !isCommand(one))
            .map(file)
            .join('\n          ')}
          <Directory Id="BINDIR" Name="bin">${files.filter(isCommand).map(file).join('')}</Directory>
        </Directory>
      </Directory>
    </Directory>
    <Feature Id="Agent" Title="${NAME}" Level="1">
      ${files.map(({ name }) => `<ComponentRef Id="C.${name}"/>`).join('')}
    </Feature>
    ${action('Configure', `configure ${configureValues(['PresetServer', 'PresetToken'])}`, 'Execute="deferred" Return="check"')}
    ${action('Reconfigure', `reconfigure ${configureValues(['', ''])}`, 'Execute="deferred" Return="check"', 'yes')}
    ${action('RollBack', `roll-back ${UPGRADE_CODE}`, 'Execute="rollback" Return="ignore"')}
    ${action('Purge', `purge ${UPGRADE_CODE}`, 'Execute="deferred" Return="ignore"')}
    <CustomAction Id="ForgetToken" Property="TOKEN" Value=""/>
    <CustomAction Id="ForgetPreset" Property="PresetToken" Value=""/>
    <InstallExecuteSequence>
      <RemoveExistingProducts After="InstallFinalize"/>
      <Custom Action="RollBack" After="InstallServices">NOT Installed</Custom>
      <Custom Action="Configure" After="InstallServices">NOT Installed</Custom>
      <Custom Action="Reconfigure" After="StartServices">Installed AND NOT REMOVE AND (${PUBLIC_PROPERTIES.join(' OR ')})</Custom>
      <Custom Action="Purge" After="DeleteServices">REMOVE="ALL" AND NOT UPGRADINGPRODUCTCODE</Custom>
      <Custom Action="ForgetToken" After="InstallFinalize"/>
      <Custom Action="ForgetPreset" After="InstallFinalize"/>
    </InstallExecuteSequence>
  </Product>
</Wix>
`
}

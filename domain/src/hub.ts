import type { ParsedDescriptors } from './descriptors.ts'

const HUB_CLASS = 0x09
const INTERRUPT = 3

/** Returns true if the device class or an interface claims to be a hub. */
export const claimsHub = (parsed: ParsedDescriptors): boolean =>
  parsed.deviceClass === HUB_CLASS || parsed.configurations.some((c) => c.interfaces.some((i) => i.class === HUB_CLASS))

/**
 * Returns true if a device is only a hub. It has device class 9, one configuration and one interface of class 9. Every
 * alternate setting has exactly one endpoint, interrupt IN (USB 2.0, 11.23; `hub_descriptor_is_sane` in
 * drivers/usb/core/hub.c). A hub with several transaction translators has two alternate settings, other hubs have one.
 */
export const isPlainHub = (parsed: ParsedDescriptors): boolean => {
  const [configuration, ...more] = parsed.configurations
  const settings = configuration?.interfaces ?? []
  return (
    parsed.isComplete &&
    parsed.deviceClass === HUB_CLASS &&
    parsed.numConfigurations === 1 &&
    more.length === 0 &&
    (settings.length === 1 || settings.length === 2) &&
    settings.every(
      ({ class: code, subclass, number, alternate, endpoints }, index) =>
        code === HUB_CLASS &&
        subclass <= 1 &&
        number === settings[0]?.number &&
        alternate === index &&
        endpoints.length === 1 &&
        endpoints.every((e) => (e.address & 0x80) !== 0 && (e.attributes & 3) === INTERRUPT),
    )
  )
}

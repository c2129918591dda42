/** Event 6416 about one memory stick, as Windows writes it. */
export const host = 'pc-7.corp.example'
export const time = '2031-05-04T10:11:12.345678900Z'
export const device = 'USB\\VID_0951&PID_1666\\60A44C3FAFE0B2B0D9A8000B'
export const hardware = ['USB\\VID_0951&PID_1666&REV_0110', 'USB\\VID_0951&PID_1666']
export const compatible = ['USB\\Class_08&SubClass_06&Prot_50', 'USB\\Class_08&SubClass_06', 'USB\\Class_08']
export const lined = (ids: readonly string[]) => `\r\n\t\t${ids.join('\r\n\t\t')}\r\n\t\t`
export const data = {
  SubjectUserSid: 'S-1-5-18',
  SubjectUserName: 'PC-7$',
  SubjectDomainName: 'CORP',
  SubjectLogonId: '0x3e7',
  DeviceId: device,
  DeviceDescription: 'USB Mass Storage Device',
  ClassId: '{36fc9e60-c465-11cf-8056-444553540000}',
  ClassName: 'USB',
  VendorIds: lined(hardware),
  CompatibleIds: lined(compatible),
  LocationInformation: 'Port_#0003.Hub_#0001',
}
export const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
export const dataXml = Object.entries(data)
  .map(([name, value]) => `<Data Name='${name}'>${escaped(value)}</Data>`)
  .join('')
export const xml = `<Event xmlns='http://schemas.microsoft.com/win/2004/08/events/event'><System><Provider Name='Microsoft-Windows-Security-Auditing' Guid='{54849625-5478-4994-A5BA-3E3B0328C30D}'/><EventID>6416</EventID><Version>1</Version><TimeCreated SystemTime='${time}'/><EventRecordID>436</EventRecordID><Correlation/><Channel>Security</Channel><Computer>PC-7.corp.example</Computer><Security/></System><EventData>${dataXml}</EventData></Event>`

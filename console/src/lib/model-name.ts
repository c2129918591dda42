/** Returns the name of a model: vendor and product. A product that contains the name of the vendor stands alone. */
export const nameOfModel = ({ guiVid, guiPid }: { guiVid: string; guiPid: string }): string =>
  guiPid.toLowerCase().includes(guiVid.toLowerCase()) ? guiPid : [guiVid, guiPid].filter(Boolean).join(' ')

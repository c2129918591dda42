/** Returns the name of a model: vendor and product, or only the product if it contains the name of the vendor. */
export const nameOfModel = ({ guiVid, guiPid }: { guiVid: string; guiPid: string }): string =>
  guiPid.toLowerCase().includes(guiVid.toLowerCase()) ? guiPid : [guiVid, guiPid].filter(Boolean).join(' ')

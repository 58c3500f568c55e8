/** Lower-case words joined by single dashes: what a preset may be called. */
export function isPresetName(name: string): boolean {
  return name.length <= 64 && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name);
}

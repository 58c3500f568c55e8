import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';

export const checkout = join(import.meta.dirname, '../..');

/** Makes a folder that everybody may enter and that is gone after the file's tests. */
export function makeScratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'jackin-toolchain-'));
  chmodSync(folder, 0o755);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

export function copyFromCheckout(folder: string, paths: readonly string[]): void {
  for (const path of paths) {
    if (existsSync(join(checkout, path))) cpSync(join(checkout, path), join(folder, path), { recursive: true });
  }
}

export function linkPackages(folder: string): void {
  symlinkSync(join(checkout, 'node_modules'), join(folder, 'node_modules'));
}

/** Copies what a build and a package are made from; the installed packages are shared. */
export function copyCheckout(folder: string): void {
  copyFromCheckout(folder, ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'bin', 'src']);
  copyFromCheckout(folder, ['docs', 'refs-layout.md', 'README.md', 'CHANGELOG.md', 'LICENSE']);
  linkPackages(folder);
}

/** Who follows a page to the letter: in a shell, in a folder like this repository, with the kubeconfig of an administrator. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'vitest';
import { ensureHelm } from '../../../../sandbox/install/helm.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { ensureTree, treeCommand } from '../../../../sandbox/tree/tree.ts';
import { consoleCommands, shapeOf } from '../cluster/console.ts';
import type { PageBlock } from './page.ts';

export interface Reader extends AsyncDisposable {
  /** All of them, in order. Throws when a command fails, or prints something else than the page has. */
  follow(blocks: readonly PageBlock[]): Promise<void>;
  /** What console blocks have printed so far: for the page, one for each command. */
  readonly outputs: readonly (readonly string[])[];
}

/** What the commands of the page name. */
const LINKS = ['bin', 'charts', 'daemonset', 'examples'] as const;

export interface ReaderOptions {
  /** Text. */
  readonly kubeconfig: string;
  readonly onBlock: (block: PageBlock, ms: number) => void;
  /** What commands print is only collected. */
  readonly isWriting: boolean;
}

export const createReader = async ({ kubeconfig, onBlock, isWriting }: ReaderOptions): Promise<Reader> => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'install-page-')));
  await Promise.all(LINKS.map((name) => symlink(resolve(name), join(folder, name))));
  await writeFile(join(folder, 'kubeconfig'), kubeconfig, { mode: 0o600 });
  const programs = await installPrograms(join(folder, '.programs'));
  const env = {
    PATH: `${programs}:${process.env['PATH'] ?? ''}`,
    HOME: folder,
    KUBECONFIG: join(folder, 'kubeconfig'),
  };
  const outputs: string[][] = [];
  const console = async (text: string): Promise<void> => {
    for (const command of consoleCommands(`\`\`\`console\n${text}\n\`\`\``)) {
      const attempt = async (): Promise<string[]> => {
        const output = await shell(command.text, { cwd: folder, env });
        if (!isWriting) expect(shapes(output), command.text).toEqual(shapes(command.output));
        return output;
      };
      // What only looks may come too early.
      outputs.push(await (isLook(command.text) ? eventually(attempt, 60_000) : attempt()));
    }
  };
  return {
    outputs,
    follow: async (blocks) => {
      for (const block of blocks) {
        const start = performance.now();
        if (block.language === 'console') await console(block.text);
        else await shell(block.text, { cwd: folder, env });
        onBlock(block, performance.now() - start);
      }
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
};

const isLook = (text: string): boolean => /^bin\/udnctl |^kubectl .*\bget\b/.test(text);

/** Nodes and pods come in any order. */
const shapes = (lines: readonly string[]): string[] => lines.map(shapeOf).sort();

/** kubectl of the sandbox's tree, and Helm. */
const installPrograms = async (folder: string): Promise<string> => {
  await mkdir(folder);
  const { file, args } = treeCommand(await ensureTree(() => {}), 'usr/bin/kubectl');
  const words = [file, ...args].map((word) => `'${word}'`).join(' ');
  await writeFile(join(folder, 'kubectl'), `#!/bin/sh\nexec ${words} "$@"\n`);
  await chmod(join(folder, 'kubectl'), 0o755);
  await symlink(await ensureHelm(), join(folder, 'helm'));
  return folder;
};

interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Longer than the commands of the page wait themselves. */
const TIMEOUT_MS = 660_000;

/** The lines of its standard output. */
const shell = (text: string, { cwd, env }: Place): Promise<string[]> =>
  new Promise((resolve, reject) => {
    const options = { cwd, env, timeout: TIMEOUT_MS, maxBuffer: 16 << 20 };
    execFile('bash', ['-e', '-u', '-o', 'pipefail', '-c', text], options, (error, stdout, stderr) => {
      if (error !== null) reject(new Error(`${text}\nfailed with ${String(error.code)}:\n${stdout}${stderr}`));
      else
        resolve(
          stdout === ''
            ? []
            : stdout
                .trimEnd()
                .split('\n')
                .map((line) => line.trimEnd()),
        );
    });
  });

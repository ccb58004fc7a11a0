/** What ovn-controller could not read of the logical flows of a cluster: a row of ours with such a match does nothing, and nobody says so. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stateFolder } from '../../../../sandbox/supervisor/state-folder.ts';

/** Lines of the logs of nodes on this machine's kernel. A guest keeps its own. */
export const refusedFlows = async (sandbox: string): Promise<string[]> => {
  const folder = join(stateFolder(sandbox).path, 'log');
  const names = await readdir(folder).catch(() => []);
  const logs = names.filter((name) => name.endsWith('.ovn-controller.log'));
  const texts = await Promise.all(logs.map((name) => readFile(join(folder, name), 'utf8')));
  return texts.flatMap((text) => text.split('\n')).filter((line) => REFUSED.test(line));
};

const REFUSED = /\|lflow\|WARN\|error parsing /;

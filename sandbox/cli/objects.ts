/** `apply`, `delete` and `get`. */
import { type Command, Option } from 'commander';
import { stringify } from 'yaml';
import { SandboxError } from '../errors.ts';
import { withClient } from '../objects/client.ts';
import { readManifests } from '../objects/manifests.ts';
import { createObjects } from '../objects/objects.ts';
import { secondsOf } from './duration.ts';
import { type NameOption, sandboxCommand } from './options.ts';

interface FileOption extends NameOption {
  readonly filename: readonly string[];
}

export const addObjectCommands = (program: Command): void => {
  sandboxCommand(program, 'apply')
    .description('create or change objects (server-side apply)')
    .addOption(fileOption())
    .action(async ({ name, filename }: FileOption) => {
      const manifests = (await Promise.all(filename.map(readManifests))).flat();
      print(await withClient(name, (client) => createObjects(client).apply(manifests)), 'applied');
    });
  sandboxCommand(program, 'delete')
    .description('delete objects and wait for their removal')
    .addOption(fileOption())
    .option('--timeout <duration>', 'how long to wait', '60s')
    .action(async ({ name, filename, timeout }: FileOption & { readonly timeout: string }) => {
      const manifests = (await Promise.all(filename.map(readManifests))).flat();
      const timeoutSeconds = secondsOf(timeout);
      print(await withClient(name, (client) => createObjects(client).delete(manifests, { timeoutSeconds })), 'deleted');
    });
  sandboxCommand(program, 'get <kind> [object]')
    .description('print an object ([NAMESPACE/]NAME), or the names of all')
    .addOption(new Option('-o, --output <format>', 'how').choices(['yaml', 'json', 'name']))
    .action(async (kind: string, object: string | undefined, options: NameOption & { readonly output?: string }) => {
      process.stdout.write(await describe(options.name, kind, object, options.output));
    });
};

const fileOption = (): Option =>
  new Option('-f, --filename <path...>', 'a file, a folder, or - for stdin').makeOptionMandatory();

const print = (titles: readonly string[], what: string): void => {
  for (const title of titles) process.stdout.write(`${title} ${what}\n`);
};

const describe = (
  name: string,
  kind: string,
  object: string | undefined,
  output: string | undefined,
): Promise<string> =>
  withClient(name, async (client) => {
    const objects = createObjects(client);
    if (object !== undefined) return format(await objects.get(kind, object), output ?? 'yaml');
    const items = await objects.list(kind);
    if (output === 'yaml' || output === 'json') return format({ apiVersion: 'v1', kind: 'List', items }, output);
    return items
      .map(({ metadata }) => `${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}\n`)
      .join('');
  });

const format = (value: unknown, output: string): string => {
  if (output === 'json') return `${JSON.stringify(value, null, 2)}\n`;
  if (output === 'yaml') return stringify(value);
  throw new SandboxError('ERR_SANDBOX_USAGE', `-o ${output} is for lists`);
};

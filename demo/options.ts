import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../base/error-message.ts';
import { API_KINDS, type ApiKind } from '../sandbox/index.ts';
import { DemoError } from './errors.ts';

export interface DemoOptions {
  /** The sandbox's. */
  readonly name: string;
  readonly nodes: number;
  /** Which API server the cluster has: ours, or kube-apiserver with etcd. */
  readonly api: ApiKind;
  /** Leave the cluster up. */
  readonly keep: boolean;
  /** A file or a folder. */
  readonly manifests: string;
  /** A folder for the results. */
  readonly output: string;
  readonly timeoutSeconds: number;
}

export const USAGE = `usage: demo/main.ts [--keep] [--manifests PATH] [--nodes N] [--api KIND] [--name NAME] [--output FOLDER] [--timeout SECONDS]`;

/** @throws DemoError ERR_DEMO_USAGE */
export const readOptions = (argv: readonly string[], root: string): DemoOptions => {
  const { values } = parse(argv);
  return {
    name: values.name,
    nodes: positive('nodes', values.nodes),
    api: oneOf('api', API_KINDS, values.api),
    keep: values.keep,
    manifests: resolve(values.manifests ?? join(root, 'examples', 'demo')),
    output: resolve(values.output ?? join(root, '.demo')),
    timeoutSeconds: positive('timeout', values.timeout),
  };
};

/** A path as people read it: from where they are, when it is below. */
export const shownPath = (path: string, from: string = process.cwd()): string => {
  const below = relative(from, path);
  return below === '' || below.startsWith('..') ? path : below;
};

const parse = (argv: readonly string[]) => {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        name: { type: 'string', default: 'demo' },
        nodes: { type: 'string', default: '2' },
        api: { type: 'string', default: 'embedded' },
        keep: { type: 'boolean', default: false },
        manifests: { type: 'string' },
        output: { type: 'string' },
        timeout: { type: 'string', default: '30' },
      },
    });
  } catch (error) {
    throw new DemoError('ERR_DEMO_USAGE', messageOf(error), [USAGE]);
  }
};

const positive = (option: string, text: string): number => {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new DemoError('ERR_DEMO_USAGE', `--${option} must be a positive number, not "${text}"`, [USAGE]);
};

const oneOf = <T extends string>(option: string, known: readonly T[], text: string): T => {
  const found = known.find((one) => one === text);
  if (found !== undefined) return found;
  throw new DemoError('ERR_DEMO_USAGE', `--${option} must be ${known.join(' or ')}, not "${text}"`, [USAGE]);
};

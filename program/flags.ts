/** Command lines of our daemons: long flags with a value, each with an environment variable of the same name. */
import { parseArgs } from 'node:util';
import {
  CLUSTER_SETTINGS,
  type ClusterConfig,
  clusterSettingsFrom,
  parseClusterConfig,
} from '../api/cluster-config.ts';
import { ApiError } from '../api/errors.ts';
import { UsageError } from './errors.ts';

export interface Flag {
  /** Without dashes, for example `log-level`; its variable is `UDN_LOG_LEVEL`. */
  readonly flag: string;
  readonly help: string;
  /** For the help only. */
  readonly defaultText?: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** What was said, on the command line or else in the environment. */
export interface Flags {
  readonly help: boolean;
  readonly version: boolean;
  /** On the command line, not in the environment. */
  readonly given: ReadonlySet<string>;
  /** Undefined when neither says anything, or says nothing. */
  text(flag: string): string | undefined;
  readonly positionals: readonly string[];
}

/** @throws UsageError for a flag that is not in the list */
export const readFlags = (flags: readonly Flag[], args: readonly string[], env: Environment): Flags => {
  const { values, positionals } = parse(flags, args);
  return {
    help: values['help'] === true,
    version: values['version'] === true,
    positionals,
    given: new Set(Object.keys(values)),
    text: (flag) => {
      const value = values[flag] ?? env[variableOf(flag)];
      return typeof value === 'string' && value !== '' ? value : undefined;
    },
  };
};

/** The flags that describe the cluster; every program of a cluster has to get the same. */
export const CLUSTER_FLAGS: readonly Flag[] = CLUSTER_SETTINGS.map(({ flag, help, defaultText }) => ({
  flag,
  help,
  defaultText,
}));

/** @throws UsageError */
export const readClusterConfig = (flags: Flags): ClusterConfig => {
  const settings = Object.fromEntries(CLUSTER_SETTINGS.map(({ flag }) => [flag, flags.text(flag)]));
  try {
    return parseClusterConfig(clusterSettingsFrom(settings, {}));
  } catch (error) {
    if (error instanceof ApiError) throw new UsageError(error.message);
    throw error;
  }
};

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOG_LEVEL_FLAG: Flag = { flag: 'log-level', help: LOG_LEVELS.join(', '), defaultText: 'info' };

/** @throws UsageError */
export const readLogLevel = (flags: Flags): LogLevel => {
  const text = flags.text(LOG_LEVEL_FLAG.flag) ?? 'info';
  const level = LOG_LEVELS.find((one) => one === text);
  if (level === undefined) throw new UsageError(`--log-level "${text}" is not one of ${LOG_LEVELS.join(', ')}`);
  return level;
};

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** `host:port` or `:port`. @throws UsageError */
export const readListenAddress = (flags: Flags, flag: string): ListenAddress | undefined => {
  const text = flags.text(flag);
  if (text === undefined) return undefined;
  const [, host = '', port = ''] = /^(.*):([0-9]{1,5})$/.exec(text) ?? [];
  if (port === '' || Number(port) > 65_535) throw new UsageError(`--${flag} "${text}" is not host:port`);
  return { host: host.replace(/^\[(.*)\]$/, '$1') || '::', port: Number(port) };
};

export interface HelpText {
  readonly usage: string;
  /** Messages, one a line. */
  readonly about: readonly string[];
  readonly flags: readonly Flag[];
}

export const formatHelp = ({ usage, about, flags }: HelpText): string => {
  const lines = [
    ...flags.map(
      ({ flag, help, defaultText }) =>
        [flag, defaultText === undefined ? help : `${help}; default: ${defaultText}`] as const,
    ),
    ['help', 'print this help'] as const,
    ['version', 'print the version'] as const,
  ];
  const width = Math.max(...lines.map(([flag]) => flag.length));
  return [
    `usage: ${usage}`,
    '',
    ...about,
    '',
    'Flags; each has an environment variable, for example UDN_LOG_LEVEL for --log-level:',
    ...lines.map(([flag, help]) => `  ${`--${flag}`.padEnd(width + 2)}  ${help}`),
    '',
  ].join('\n');
};

const variableOf = (flag: string): string => `UDN_${flag.replaceAll('-', '_').toUpperCase()}`;

const parse = (
  flags: readonly Flag[],
  args: readonly string[],
): { values: Readonly<Record<string, unknown>>; positionals: readonly string[] } => {
  const options = Object.fromEntries(flags.map(({ flag }) => [flag, { type: 'string' } as const]));
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { ...options, help: { type: 'boolean', short: 'h' }, version: { type: 'boolean' } },
    });
  } catch (error) {
    throw new UsageError(usageMessage(error, args));
  }
};

/** The parser's own texts are about JavaScript's ways to call it. */
const usageMessage = (error: unknown, args: readonly string[]): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  const [, name = ''] = /'(?:-\w, )?(--?[^' =]+)/.exec(message) ?? [];
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return `unknown flag ${name}`;
  if (code !== 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE') return message;
  if (message.includes('does not take an argument')) return `${name} takes no value`;
  const value = args[args.indexOf(name) + 1];
  // What begins with a dash is the next flag, or a value that was never meant to be one.
  return value === undefined ? `${name} needs a value` : `${name} needs a value, not "${value}"`;
};

/** The options that commands about a node have in common. */
import { type Command, Option } from 'commander';
import { ProgramCommand } from '../../program/program-command.ts';
import { OUTPUT_FORMATS, type OutputFormat, TEXT_FORMATS, type TextFormat } from '../output/format.ts';
import { DEFAULT_AGENT_SOCKET } from './agent-client.ts';

export interface AgentOptions {
  readonly agentSocket: string;
}

export interface NodeOptions extends AgentOptions {
  readonly output: OutputFormat;
}

export interface TextOptions extends AgentOptions {
  readonly output: TextFormat;
}

export interface RemoteOptions {
  readonly nbRemote: string;
  readonly sbRemote: string;
  readonly ovsRemote: string;
}

/** A command that asks the node's agent and prints tables. */
export const nodeCommand = (name: string, description: string): Command =>
  agentCommand(name, description).addOption(
    new Option('-o, --output <format>', 'output format').choices(OUTPUT_FORMATS).default('table'),
  );

/** A command that asks the node's agent and prints text. */
export const textCommand = (name: string, description: string): Command =>
  agentCommand(name, description).addOption(
    new Option('-o, --output <format>', 'output format').choices(TEXT_FORMATS).default('text'),
  );

export const withOvnRemotes = (command: Command): Command =>
  command
    .addOption(remote('nb', 'northbound database', 'unix:/run/ovn/ovnnb_db.sock'))
    .addOption(remote('sb', 'southbound database', 'unix:/run/ovn/ovnsb_db.sock'));

export const withRemotes = (command: Command): Command =>
  withOvnRemotes(command).addOption(remote('ovs', "Open vSwitch' database", 'unix:/run/openvswitch/db.sock'));

const agentCommand = (name: string, description: string): Command =>
  new ProgramCommand(name)
    .description(description)
    .addOption(
      new Option('--agent-socket <path>', "the agent's status socket")
        .env('UDN_STATUS_SOCKET')
        .default(DEFAULT_AGENT_SOCKET),
    );

const remote = (name: 'nb' | 'sb' | 'ovs', description: string, value: string): Option =>
  new Option(`--${name}-remote <remote>`, description).env(`UDN_${name.toUpperCase()}_REMOTE`).default(value);

import type { Command } from 'commander';
import { Option as CommanderOption, type Option } from 'commander';
import { guestStateFolder } from '../guest/control.ts';
import type { ServiceStatus } from '../process/service.ts';
import { connectControl } from '../supervisor/control-client.ts';
import type { GuestStatus, SandboxStatus } from '../supervisor/types.ts';
import { type NameOption, sandboxCommand } from './options.ts';

export const addStatusCommand = (program: Command): void => {
  sandboxCommand(program, 'status')
    .description('what runs')
    .addOption(outputOption())
    .action(async ({ name, output }: NameOption & { readonly output?: string }) => {
      const status = await connectControl(name).status();
      process.stdout.write(output === 'json' ? `${JSON.stringify(status, null, 2)}\n` : formatStatus(status));
    });
};

const outputOption = (): Option => new CommanderOption('-o, --output <format>', 'instead of text').choices(['json']);

/** For people: one line per program. */
export const formatStatus = (status: SandboxStatus): string =>
  [
    `sandbox ${status.name}: ${status.state}, ${status.datapath} datapath, ${status.gatewayMode} gateway mode`,
    ...(status.guest === undefined ? [] : [formatGuest(status.name, status.guest)]),
    ...(status.kubeconfig === undefined ? [] : [`kubeconfig ${status.kubeconfig}`]),
    `logs in ${status.folder}/log`,
    `outside ${status.outside.join(' ')}`,
    ...status.services.map(formatService),
    ...status.nodes.flatMap(({ name, addresses, services }) => [
      `${name} ${addresses.join(' ')}`,
      ...services.map(formatService),
    ]),
    '',
  ].join('\n');

const formatGuest = (name: string, { accelerator }: GuestStatus): string =>
  `in a guest (${accelerator}), whose logs are in ${guestStateFolder(name).logs} there: sandbox guest -- ls …`;

const formatService = ({ name, state, pid, restarts, lastEnd }: ServiceStatus): string =>
  [
    `  ${name.padEnd(18)} ${state.padEnd(8)}`,
    pid === undefined ? '' : `pid ${pid}`,
    restarts === 0 ? '' : `restarted ${restarts} times, last ended with ${lastEnd}`,
  ]
    .filter((part) => part !== '')
    .join(' ')
    .trimEnd();

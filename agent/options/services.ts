/** Flags about what is reached at addresses of the node: Services of the default network, and ports that no pod gets. */
import { DEFAULT_ALLOWED_SERVICES, parseAllowedServices } from '../../api/allowed-services.ts';
import { ApiError } from '../../api/errors.ts';
import { DEFAULT_RESERVED_HOST_PORTS, parseReservedHostPorts } from '../../api/reserved-host-ports.ts';
import { UsageError } from '../../program/errors.ts';
import type { Flag, Flags } from '../../program/flags.ts';

export interface ServiceOptions {
  /** `namespace/name` of Services of the default network that pods of every network reach. */
  readonly allowedDefaultServices: readonly string[];
  /** `PROTOCOL/PORT` of ports of the node that no pod gets by `hostPort`. */
  readonly reservedHostPorts: readonly string[];
}

export const SERVICE_FLAGS: readonly Flag[] = [
  {
    flag: 'udn-allowed-default-services',
    help: 'Services of the default network that pods of every network reach, NAMESPACE/NAME, comma list; or none',
    defaultText: DEFAULT_ALLOWED_SERVICES,
  },
  {
    flag: 'reserved-host-ports',
    help: 'ports of the node that no pod gets by hostPort, PROTOCOL/PORT, comma list; or none',
    defaultText: DEFAULT_RESERVED_HOST_PORTS,
  },
];

/** @throws UsageError */
export const readServiceOptions = (flags: Flags): ServiceOptions => {
  const list = (flag: string, otherwise: string, parse: (text: string) => readonly string[]): readonly string[] => {
    try {
      return parse(flags.text(flag) ?? otherwise);
    } catch (error) {
      if (error instanceof ApiError) throw new UsageError(`--${flag}: ${error.message}`);
      throw error;
    }
  };
  return {
    allowedDefaultServices: list('udn-allowed-default-services', DEFAULT_ALLOWED_SERVICES, parseAllowedServices),
    reservedHostPorts: list('reserved-host-ports', DEFAULT_RESERVED_HOST_PORTS, parseReservedHostPorts),
  };
};

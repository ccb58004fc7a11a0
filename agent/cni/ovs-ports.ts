/** The ports of pods on br-int, as CNI needs them. */
import type { InterfaceAddress } from '../../net/cidr.ts';
import type { Mac } from '../../net/mac.ts';

/** A port of the integration bridge for one interface of a pod. */
export interface PortSpec {
  /** Name of the link on the node. */
  readonly name: string;
  /** `iface-id`: the logical port that ovn-controller binds it to. */
  readonly logicalPort: string;
  /** `iface-id-ver` */
  readonly podUid: string;
  /** The container's id. */
  readonly sandbox: string;
  readonly interfaceName: string;
  readonly mac: Mac;
  readonly addresses: readonly InterfaceAddress[];
  /** Absent for the default network. */
  readonly network: { readonly name: string; readonly nad: string } | undefined;
}

/** A port that is there. */
export interface PluggedPort {
  readonly name: string;
  readonly sandbox: string;
  readonly logicalPort: string;
  readonly podUid: string;
  /** In the pod. */
  readonly interfaceName: string;
  /** `default`, or the key of the NAD. */
  readonly nadKey: string;
  /** ovn-controller has bound it and its flows are there. */
  readonly isInstalled: boolean;
  /** Why OVS cannot use the link, for example because it is gone. */
  readonly error: string | undefined;
}

export interface OvsPorts {
  /**
   * Adds ports in one transaction, and in the same one takes away other ports of the same logical ports: what an earlier
   * sandbox of the pod left. A port that is there as desired is left alone.
   * @throws BridgeMissingError while there is no br-int
   */
  plug(ports: readonly PortSpec[], signal: AbortSignal): Promise<void>;
  /** Resolves when ovs-vswitchd has opened the links of all of them. @throws PortGoneError when one is taken away meanwhile */
  untilOpened(ports: readonly PortSpec[], signal: AbortSignal): Promise<void>;
  /** Resolves when ovn-controller has installed all of them. @throws PortGoneError when one is taken away meanwhile */
  untilInstalled(ports: readonly PortSpec[], signal: AbortSignal): Promise<void>;
  /** Takes away all ports with these names, in one transaction. Absent is success. */
  unplug(names: readonly string[], signal: AbortSignal): Promise<void>;
  ofSandbox(sandbox: string): readonly PluggedPort[];
  /** All ports of pods. */
  all(): readonly PluggedPort[];
  /** br-int is there and the database can be reached. */
  isReady(): boolean;
  /** The integration bridge is on OVS' userspace datapath. */
  isUserspace(): boolean;
}

/**
 * What a plugin says of the device that it has given a pod: Device Information Specification 1.1.0, section 3. It goes into network-status
 * as it is; readers look at `type`, and then into the map of that name.
 */
import { z } from 'zod';
import { parseWith, readJson } from './parse.ts';

export type DeviceInfo = Readonly<Record<string, unknown>>;

/** Of one file: a pod may have 32 of them, and all annotations together 256 KiB. */
export const MAX_DEVICE_INFO_BYTES = 4_096;

/** Key of `capabilities` and `runtimeConfig`: the path of the file. */
export const DEVICE_INFO_CAPABILITY = 'CNIDeviceInfoFile';

const text = z.string();
const optional = z.string().optional();

/** Keys that later versions add are kept. */
const DEVICES = {
  pci: z.looseObject({
    ...{ 'pci-address': text, 'vhost-net': optional, 'rdma-device': optional },
    ...{ 'pf-pci-address': optional, 'representor-device': optional },
  }),
  vdpa: z.looseObject({
    ...{ 'parent-device': text, driver: text, path: text },
    ...{ 'pci-address': optional, 'pf-pci-address': optional, 'representor-device': optional },
  }),
  'vhost-user': z.looseObject({ mode: text, path: text }),
  memif: z.looseObject({ role: text, path: text, mode: text }),
};

const devices = Object.fromEntries(Object.entries(DEVICES).map(([type, schema]) => [type, schema.optional()]));

const deviceInfoSchema = z
  .looseObject({
    type: text,
    version: text.refine((value) => /^\d+\.\d+\.\d+$/.test(value), 'is not MAJOR.MINOR.PATCH'),
    ...devices,
  })
  .superRefine((value, { addIssue }) => {
    const { type } = value;
    if (Object.hasOwn(DEVICES, type) && value[type] === undefined)
      addIssue({ code: 'custom', path: [type], message: 'is required' });
  });

/** @param where for messages @throws ApiError, or SyntaxError when it is not JSON */
export const parseDeviceInfo = (json: string, where: string): DeviceInfo =>
  parseWith(deviceInfoSchema, readJson(json), where);

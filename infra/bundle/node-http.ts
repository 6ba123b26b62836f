/**
 * Replaces node:http with the properties that the SDK uses for http:// endpoints, which only emulators and tests have.
 */
export const { Agent, request, STATUS_CODES } = process.getBuiltinModule('node:http');

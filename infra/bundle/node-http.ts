/** The SDK imports node:http for http:// endpoints, which only emulators and tests have. */
export const { Agent, request, STATUS_CODES } = process.getBuiltinModule('node:http');

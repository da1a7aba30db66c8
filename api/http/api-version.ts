/** Version of the API description; the protocol's release is another number. */
export const API_VERSION = "0.1.0";

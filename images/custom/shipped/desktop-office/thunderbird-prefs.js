// No first-run pages, questions or news in this image.
pref("app.donation.eoy.version.viewed", 999);
pref("datareporting.policy.dataSubmissionEnabled", false);
pref("mail.provider.suppress_dialog_on_startup", true);
pref("mail.rights.version", 1);
pref("mail.shell.checkDefaultClient", false);
pref("mail.spam.version", 1);
pref("mailnews.start_page.enabled", false);
pref("mailnews.start_page_override.mstone", "ignore");
pref("toolkit.cosmeticAnimations.enabled", false);
pref("ui.prefersReducedMotion", 1);

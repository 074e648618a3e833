package web_test

import "gorm.io/gorm"

// dropTable breaks the database as no request could.
func dropTable(name string) func(*gorm.DB) error {
	return func(tx *gorm.DB) error { return tx.Exec("DROP TABLE " + name).Error }
}

func setStatus(runID, status string) func(*gorm.DB) error {
	return func(tx *gorm.DB) error {
		return tx.Table("runs").Where("id = ?", runID).Update("status", status).Error
	}
}
